// Requests to the service that served this page. The token lives as long as the browser's tab.

const KEY = 'hindsight-token';

/** What a problem document says, with the bad fields and what is wrong with each. */
function explain(problem) {
  const fields = (problem?.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  const more = problem?.errors_left_out > 0 ? [`and ${problem.errors_left_out} more`] : [];
  const text = problem?.detail || problem?.title;
  return fields.length > 0 ? `${text}: ${[...fields, ...more].join('; ')}` : text;
}

export class Refused extends Error {
  constructor(status, problem) {
    super(explain(problem) || `The service answered ${status}`);
    this.status = status;
    this.code = problem?.code;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

async function send(method, path, body, type = 'application/json') {
  const headers = {};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers['Content-Type'] = type;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, cache: 'no-store' });
  } catch {
    throw new Refused(0, { detail: 'The service does not answer.' });
  }
  if (answer.ok) return answer;
  let problem = null;
  try {
    problem = await answer.json();
  } catch { /* not a problem document: the status says enough */ }
  // With tokens, an unknown name gets 403. Only a token that lacks a scope gets WWW-Authenticate too.
  const isUnknown = answer.status === 403 && !answer.headers.has('WWW-Authenticate');
  throw new Refused(isUnknown ? 404 : answer.status, problem);
}

/** The path of a request with its filters. Empty filters are left out. */
export function route(parts, filters = {}) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value || value === 0));
  return `/v1/${parts.map(encodeURIComponent).join('/')}${[...query].length > 0 ? `?${query}` : ''}`;
}

export const json = async (path) => (await send('GET', path)).json();
export const text = async (path) => (await send('GET', path)).text();
export const blob = async (path) => (await send('GET', path)).blob();
export const post = async (path, value) => (await send('POST', path, JSON.stringify(value))).json();

/** The answer of /readyz, whatever its status is. */
export async function health() {
  const answer = await fetch('/readyz?verbose', { cache: 'no-store' });
  return answer.json();
}

/** The samples of /metrics: name -> [{labels, value}]. */
export async function metrics() {
  const samples = new Map();
  for (const line of (await text('/metrics')).split('\n')) {
    const found = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) continue;
    const labels = Object.fromEntries([...(found[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
      .map((label) => [label[1], label[2]]));
    if (!samples.has(found[1])) samples.set(found[1], []);
    samples.get(found[1]).push({ labels, value: Number(found[3]) });
  }
  return samples;
}
