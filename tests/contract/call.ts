// Does with two generated clients what a game server does: opens a match, posts a tick, ends the
// match. run.sh compiles this file as it is, and then with one misspelt word, which must not compile.
import createClient from 'openapi-fetch';
import type { paths } from './types.js';
import { Api } from './client.js';

const baseUrl = process.argv[2] ?? '';

function assertAccepted(client: string, verdicts: string[] | undefined): void {
  if (verdicts?.join() !== 'accepted') throw new Error(`${client}: ${verdicts ?? 'no answer'}`);
  console.log(`  ${client}: accepted`);
}

async function byOpenapiFetch(): Promise<void> {
  const client = createClient<paths>({ baseUrl });
  const params = { path: { match: 'by-openapi-fetch' } };
  await client.PUT('/v1/matches/{match}', { params, body: { ruleset: 'metres' } });
  const { data } = await client.POST('/v1/matches/{match}/ticks', {
    params: { ...params, query: { explain: true } },
    body: {
      frames: [{
        time: 1,
        players: [
          { player: 'alice', position: [0, 0, 0], weapon: 'rifle', event: 'spawn' },
          { player: 'bob', position: [20, 0, 0] },
        ],
      }],
      hits: [{
        shot: 1, shooter: 'alice', target: 'bob', hit_time: 1, fire_time: 1,
        start: [0, 0, 1.6], end: [20, 0, 1.6],
      }],
    },
  });
  await client.DELETE('/v1/matches/{match}', { params });
  assertAccepted('openapi-fetch', data?.hits?.map((hit) => hit.verdict));
}

async function bySwaggerTypescriptApi(): Promise<void> {
  const { v1 } = new Api({ baseUrl });
  await v1.openMatch('by-swagger', { ruleset: 'metres' });
  const { data } = await v1.postTick('by-swagger', {
    frames: [{
      time: 1,
      players: [
        { player: 'alice', position: [0, 0, 0], weapon: 'rifle', event: 'spawn' },
        { player: 'bob', position: [20, 0, 0] },
      ],
    }],
    hits: [{
      shot: 1, shooter: 'alice', target: 'bob', hit_time: 1, fire_time: 1,
      start: [0, 0, 1.6], end: [20, 0, 1.6],
    }],
  }, { explain: true });
  await v1.endMatch('by-swagger');
  assertAccepted('swagger-typescript-api', data.hits?.map((hit) => hit.verdict));
}

await byOpenapiFetch();
await bySwaggerTypescriptApi();
