// The state of the service: what /readyz and /metrics say, in the words of an operator.

import { bar, count, el, notice, number, panel, table } from './dom.js';
import { health, metrics } from './net.js';

const REFRESH_MS = 3000;

export const title = () => 'Health';

const sum = (samples, name, fits = () => true) => (samples.get(`hindsight_${name}`) ?? [])
  .filter(({ labels }) => fits(labels)).reduce((total, { value }) => total + value, 0);

function duration(seconds) {
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}

/** Counters that should stay at zero. */
const troubles = [
  ['requests_shed_total', 'Requests refused because of overload'],
  ['evidence_dropped_total', 'Verdicts that were not stored'],
  ['record_dropped_total', 'Recorded requests that were lost'],
  ['auth_failures_total', 'Requests with a bad token'],
];

/** The limits of the service. Each row has the metric of the used amount, the metric of the limit, and a title. */
const bounds = [
  ['matches_active', 'matches_limit', 'Matches'], ['history_bytes', 'history_bytes_limit', 'Memory of histories'],
  ['maps', 'maps_limit', 'Maps'], ['map_bytes', 'map_bytes_limit', 'Memory of maps'],
  ['rulesets', 'rulesets_limit', 'Rulesets'], ['http_connections', 'http_connections_limit', 'Connections'],
];

function tiles(samples, ready, rate) {
  const started = samples.get('process_start_time_seconds')?.[0].value;
  const version = samples.get('hindsight_build_info')?.[0].labels.version;
  const entries = [
    [ready.status, 'State', ready.status !== 'ready'], [version ?? '–', 'Version'],
    [started ? duration(Date.now() / 1000 - started) : '–', 'Running for'],
    [count(sum(samples, 'verdicts_total', ({ mode }) => mode === 'enforce')), 'Verdicts'],
    [rate === null ? '–' : `${number(rate)} /s`, 'Requests'],
    [count(sum(samples, 'evidence_written_total')), 'Verdicts stored'],
    [`${number((samples.get('process_resident_memory_bytes')?.[0].value ?? 0) / 1e6)} MB`, 'Memory'],
  ];
  return el('div', { class: 'tiles' }, entries.map(([value, text, isBad]) =>
    el('div', { class: `tile${isBad ? ' bad' : ''}` }, el('b', {}, value), text)));
}

function checksPanel(ready) {
  return panel('Readiness', el('ul', { class: 'checks' }, (ready.checks ?? []).map((check) =>
    el('li', { class: `check-row ${check.passed ? 'pass' : 'fail'}` }, el('span', { class: 'mark', 'aria-hidden': 'true' }, check.passed ? '✓' : '✕'),
      el('span', { class: 'name' }, check.check.replaceAll('_', ' '), el('span', { class: 'hidden' }, check.passed ? ': passed' : ': failed'))))));
}

function boundsPanel(samples) {
  const rows = bounds.filter(([, limit]) => samples.has(`hindsight_${limit}`)).map(([name, limit, text]) => {
    const [used, most] = [sum(samples, name), sum(samples, limit)];
    const size = name.endsWith('bytes') ? (value) => `${number(value / 1e6)} MB` : count;
    return [text, size(used), size(most), bar(most > 0 ? used / most : 0, used > 0.9 * most ? 'fail' : '')];
  });
  return panel('Limits', table('Limits', ['What', ['Used', 'num'], ['Limit', 'num'], ''], rows));
}

function troublesPanel(samples) {
  const rows = troubles.filter(([name]) => samples.has(`hindsight_${name}`)).map(([name, text]) => [text, count(sum(samples, name))]);
  return panel('Should stay at 0', table('Should stay at 0', ['What', ['Since the start', 'num']], rows));
}

function routesPanel(samples) {
  const routes = new Map();
  for (const { labels, value } of samples.get('hindsight_http_requests_total') ?? []) {
    const one = routes.get(labels.route) ?? { all: 0, failed: 0 };
    one.all += value;
    if (Number(labels.code) >= 500) one.failed += value;
    routes.set(labels.route, one);
  }
  const mean = (name) => {
    const n = sum(samples, 'http_request_duration_seconds_count', ({ route }) => route === name);
    return n > 0 ? `${number((1000 * sum(samples, 'http_request_duration_seconds_sum', ({ route }) => route === name)) / n)} ms` : '–';
  };
  const rows = [...routes].filter(([, one]) => one.all > 0).sort((a, b) => b[1].all - a[1].all);
  return panel('Requests', table('Requests', ['Route', ['Requests', 'num'], ['Failed (5xx)', 'num'], ['Mean time', 'num']],
    rows.map(([name, one]) => [el('code', {}, name), count(one.all), count(one.failed), mean(name)])));
}

export async function show(view) {
  const place = el('div');
  let before = null;
  view.main.append(el('h1', {}, 'Health'), place);
  const load = async () => {
    const [ready, samples] = await Promise.all([health(), metrics()]);
    const now = { at: performance.now(), requests: sum(samples, 'http_requests_total') };
    const rate = before && now.at > before.at ? (1000 * (now.requests - before.requests)) / (now.at - before.at) : null;
    before = now;
    place.replaceChildren(tiles(samples, ready, rate),
      el('div', { class: 'columns even' }, el('div', {}, checksPanel(ready), troublesPanel(samples)), boundsPanel(samples)), routesPanel(samples));
  };
  await load();
  const timer = setInterval(() => {
    if (!document.hidden) load().catch((error) => place.replaceChildren(notice(error.message, 'bad')));
  }, REFRESH_MS);
  view.signal.addEventListener('abort', () => clearInterval(timer));
}
