// Starts the service, and calls it with the generated clients. Then plays the demo, the example games
// and the scenarios through prism, a proxy that checks each request and each answer by openapi.yaml.
// Then plays the demo and a game through HAProxy, and sends some requests after the replica has
// stopped.
//     node play.mjs PROGRAM GAME FOLDER
// GAME is the program built from examples/game_server.c.
// Everything uses free ports of the loopback interface, and is stopped at the end.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const [program, game, folder] = process.argv.slice(2);
const scratch = mkdtempSync(path.join(os.tmpdir(), 'hindsight-contract-'));
const children = [];
const GAME_SECONDS = '5';
let violations = 0;
let seen = 0;

// Starts a program, and waits until its output matches `ready`.
function start(command, args, ready) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece) => {
      text = (text + piece).slice(-100000);
      const match = ready?.exec(text);
      if (match) {
        ready = null;
        resolve([child, ...match.slice(1)]);
      }
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}`)));
  });
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
}

function listen(server) {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => {
    server.unref();
    resolve(`http://127.0.0.1:${server.address().port}`);
  }));
}

// Forwards requests to prism, and reads the faults that prism finds. A request that the service
// refuses may break the contract; an answer may not.
function watch(upstream) {
  return listen(http.createServer((request, reply) => {
    const { method, headers } = request;
    const forwarded = http.request(upstream + request.url, { method, headers }, (answer) => {
      const found = JSON.parse(answer.headers['sl-violations'] ?? '[]').filter(
        ({ location }) => location[0] === 'response' || answer.statusCode < 400);
      seen++;
      for (const { location, message } of found) {
        violations++;
        console.error(`${method} ${request.url} ${answer.statusCode}: ${location.join('.')}: ${message}`);
      }
      reply.writeHead(answer.statusCode, answer.headers);
      answer.pipe(reply);
    });
    forwarded.on('error', () => reply.destroy());
    request.pipe(forwarded);
  }));
}

async function startService() {
  const args = ['serve', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--data=',
    '--drain-wait-seconds', '0', '--queue-ms', '0'];
  return start(program, args, /ready data=(\S+) /);
}

async function startPrism(upstream) {
  const [child, url] = await start('prism', ['proxy', 'openapi.yaml', upstream, '--port', '0'],
    /listening on (http:\S+)/);
  return [child, await watch(url)];
}

// Starts HAProxy with the shipped configuration and one replica, so without the rule that refuses
// maps and rulesets. HAProxy listens on a socket of the file system, because it does not print which
// free port it took. Returns a URL that leads to this socket.
async function startHaproxy(haproxy, replica) {
  const socket = path.join(scratch, 'haproxy.sock');
  const file = path.join(scratch, 'haproxy.cfg');
  const shipped = readFileSync('deploy/haproxy/hindsight.cfg', 'utf8');
  writeFileSync(file, shipped.replace(/^ {4}bind .*$/m, `    bind unix@${socket}`)
    .replace(/^ {4}http-request return status 403 .*\n/m, '').replace(/^ {4}server .*\n/gm, '') + `    server hindsight1 ${new URL(replica).host} id 1\n`);
  const child = spawn(haproxy, ['-db', '-f', file], { stdio: 'ignore' });
  children.push(child);
  while (!existsSync(socket) && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return listen(net.createServer((client) => {
    const server = net.connect(socket);
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
  }));
}

const run = promisify(execFile);

async function play(file, url, ...options) {
  await run(program, ['play', file, '--url', url, ...options], { maxBuffer: 1 << 26 });
}

// An example game ends with 1 when a verdict is wrong.
async function playGame(url, command, ...args) {
  const { HINDSIGHT_TOKEN, ...env } = process.env;
  await run(command, [...args, GAME_SECONDS], { env: { ...env, HINDSIGHT_URL: url } });
}

async function ask(url, method, route, body) {
  const reply = await fetch(url + route, {
    method, body, headers: body ? { 'Content-Type': 'application/json' } : {},
  });
  return [reply.status, await reply.json()];
}

function report(what) {
  console.log(`  ${what}: ${seen} requests, ${violations} violations`);
  if (seen === 0) throw new Error('nothing went through the proxy');
  seen = 0;
}

async function main() {
  const demo = path.join(scratch, 'demo.jsonl');
  if (spawnSync(program, ['demo', '--keep', demo]).status !== 0) throw new Error('demo');
  const [service, direct] = await startService();
  await run('node', [path.join(folder, 'call.js'), direct])
    .then(({ stdout }) => process.stdout.write(stdout));

  const [, proxied] = await startPrism(direct);
  await play(demo, proxied);
  report('demo');
  for (const engine of ['unreal', 'unity', 'godot', 'source']) {
    await playGame(proxied, game, engine);
    await playGame(proxied, 'python3', 'examples/game_server.py', engine);
  }
  report('example games');
  // Not hygiene.json: it has bytes that are no JSON, which prism changes, and items that break the
  // contract.
  for (const name of readdirSync('tests/scenarios').filter((name) => name.endsWith('.json')))
    if (name !== 'hygiene.json') await play(path.join('tests/scenarios', name), proxied);
  report('scenarios');

  const haproxy = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy'].find(existsSync);
  if (haproxy === undefined) {
    console.log('SKIP: haproxy is not installed. Not done: prism in front of it');
    return;
  }
  const [, balanced] = await startPrism(await startHaproxy(haproxy, direct));
  for (let tries = 0; (await ask(balanced, 'GET', '/v1/matches'))[0] !== 200; tries++)
    if (tries === 500) throw new Error('HAProxy has no replica');
  await play(demo, balanced, '--replace');
  await playGame(balanced, game, 'unreal');
  await play('tests/scenarios/claims.json', balanced);
  report('through HAProxy');
  await stop(service);
  for (const [method, route, body] of [['GET', '/v1/matches'], ['PUT', '/v1/matches/m', '{}'],
    ['POST', '/v1/matches/m/ticks', '{"frames":[]}'], ['POST', '/v1/matches/m/hits', '{"hits":[]}'],
    ['GET', '/v1/rulesets/metres'], ['DELETE', '/v1/matches/m'], ['PUT', '/v1/maps/m', '{}']]) {
    const [status, { code }] = await ask(balanced, method, route, body);
    if (!['overloaded', 'bad_gateway'].includes(code))
      throw new Error(`${method} ${route}: ${status} ${code}`);
  }
  report('with the replica down');
}

try {
  await main();
} finally {
  for (const child of children.reverse()) await stop(child);
  rmSync(scratch, { recursive: true });
}
process.exit(violations === 0 ? 0 : 1);
