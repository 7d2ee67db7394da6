// The list of verdicts, the newest first, with filters. It is refreshed while the reader is at its top.

import { address, announce, count, el, lengthUnit, notice, quantity, time } from './dom.js';
import { json, route } from './net.js';
import { moveReasons, reasonName, reasons, verdicts } from './words.js';

const PAGE = 100;
const REFRESH_MS = 3000;
const spans = { '': 'Any time', 300: 'Last 5 minutes', 3600: 'Last hour', 86400: 'Last day', 604800: 'Last week' };

export const title = () => 'Verdicts';

function choice(name, label, options, chosen) {
  return el('label', {}, label, el('select', { name }, Object.entries(options).map(([value, text]) =>
    el('option', { value, selected: value === (chosen ?? '') }, text))));
}

function filterForm(view) {
  const { filters } = view;
  const field = (name, label) => el('label', {}, label,
    el('input', { name, value: filters[name] ?? '', autocomplete: 'off', spellcheck: 'false' }));
  const sorted = Object.entries({ ...moveReasons, ...reasons }).sort((a, b) => a[1].localeCompare(b[1]));
  const form = el('form', {
    class: 'filters', role: 'search', 'aria-label': 'Filter verdicts',
    onsubmit: (event) => event.preventDefault(),
    onchange: () => {
      location.hash = address(['verdicts'], Object.fromEntries(new FormData(form)));
    },
  },
  field('player', 'Player'), field('target', 'Target'), field('match', 'Match'),
  choice('verdict', 'Verdict', { '': 'Any', ...verdicts }, filters.verdict),
  choice('reason', 'Reason', { '': 'Any', ...Object.fromEntries(sorted) }, filters.reason),
  choice('kind', 'Kind', { '': 'Any', hit: 'Hits', shot: 'Posted shots', move: 'Moves' }, filters.kind),
  choice('span', 'When', spans, filters.span),
  filters.until ? el('input', { type: 'hidden', name: 'until', value: filters.until }) : null,
  Object.keys(filters).length > 0 ? el('a', { class: 'button', href: '#/verdicts' }, 'Clear') : null);
  return form;
}

/** The path of the request that loads a page of the list. */
function query(filters, more) {
  const { span, ...rest } = filters;
  const since = span ? { since: Math.floor(Date.now() / 1000 - Number(span)) } : {};
  return route(['verdicts'], { ...rest, ...since, limit: PAGE, ...more });
}

function row(item) {
  const unit = lengthUnit(item.ruleset);
  return el('tr', { 'data-id': item.verdict_id },
    el('td', { class: 'num' }, el('a', { href: address(['verdicts', item.verdict_id]),
      'aria-label': `${time(item.at)}: ${item.player} at ${item.target ?? 'nobody'}, ${verdicts[item.verdict]}, ${reasonName(item.reason, item.kind)}` },
    time(item.at))),
    el('td', {}, el('span', { class: `badge ${item.verdict}` }, verdicts[item.verdict] ?? item.verdict)),
    el('td', { title: item.reason }, reasonName(item.reason, item.kind)),
    el('td', { class: 'num' }, item.measured === undefined ? '' : quantity(item.measured, item.unit, unit)),
    el('td', { class: 'num muted' }, item.measured === undefined ? '' : quantity(item.limit, item.unit, unit)),
    el('td', {}, el('a', { class: 'plain', tabindex: '-1', href: address(['players', item.player]) }, item.player)),
    el('td', {}, item.target ?? ''),
    el('td', {}, item.weapon ?? ''),
    el('td', {}, item.match),
    el('td', { class: 'muted' }, item.kind));
}

/** Chips with the reasons of the loaded verdicts, the most frequent first. */
function facets(items, filters) {
  const counts = new Map();
  for (const item of items) counts.set(item.reason, (counts.get(item.reason) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
  return sorted.map(([reason, n]) => el('a', {
    class: 'chip', href: address(['verdicts'], { ...filters, reason: filters.reason === reason ? '' : reason }),
  }, reasonName(reason), el('b', {}, count(n))));
}

export async function show(view) {
  const items = new Map();
  let next = 0;
  let isLive = true;
  const body = el('tbody');
  const summary = el('p', { class: 'summary muted' });
  const chips = el('div', { class: 'chips' });
  const older = el('button', { type: 'button', onclick: () => load(true).catch(view.fail) }, 'Show older verdicts');
  const live = el('label', { class: 'check' },
    el('input', { type: 'checkbox', checked: true, onchange: (event) => { isLive = event.target.checked; } }), 'Live');

  function draw() {
    const selected = document.activeElement?.closest('tr')?.dataset.id;
    const sorted = [...items.values()].sort((a, b) => b.at - a.at);
    body.replaceChildren(...sorted.map(row));
    if (selected) body.querySelector(`[data-id="${CSS.escape(selected)}"] a`)?.focus({ preventScroll: true });
    chips.replaceChildren(...facets(sorted, view.filters));
    older.hidden = next === 0;
  }

  function sayCount() {
    const text = items.size === 0 ? 'No stored verdict fits these filters' : `${count(items.size)} verdicts, the newest first`;
    summary.textContent = `${text}${next > 0 ? '; older ones are not loaded yet' : ''}.`;
  }

  /** Loads the newest page, or the page after the oldest row. */
  async function load(isOlder) {
    const answer = await json(query(view.filters, isOlder ? { cursor: next } : {}));
    if (view.signal.aborted) return;
    const isFirst = items.size === 0;
    const fresh = answer.verdicts.filter((item) => !items.has(item.verdict_id)).length;
    // If a whole page is new, there may be others between this page and the older rows. Then begin again with this page.
    const isGap = !isOlder && !isFirst && answer.next !== undefined && fresh === PAGE;
    if (isGap) items.clear();
    for (const item of answer.verdicts) items.set(item.verdict_id, item);
    if (isOlder || isFirst || isGap) next = answer.next ?? 0;
    if (fresh > 0 || isOlder || isFirst) draw();
    sayCount();
    if (isOlder) announce(`${fresh} older verdicts were added`);
  }

  function move(step) {
    const links = [...body.querySelectorAll('tr td:first-child a')];
    const at = links.indexOf(document.activeElement);
    const to = links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step))];
    to?.focus();
    to?.scrollIntoView({ block: 'nearest' });
  }

  const form = filterForm(view);
  view.keys.set('j', { text: 'Next verdict', run: () => move(1) });
  view.keys.set('k', { text: 'Previous verdict', run: () => move(-1) });
  view.keys.set('Enter', { text: 'Open the verdict', run: () => document.activeElement.click() });
  view.keys.set('/', { text: 'Filter', run: () => form.elements.player.focus() });
  view.keys.set('o', { text: 'Show older verdicts', run: () => { if (next > 0) load(true).catch(view.fail); } });

  const headings = [['Time', 'num'], ['Verdict'], ['Reason'], ['Measured', 'num'], ['Limit', 'num'], ['Player'],
    ['Target'], ['Weapon'], ['Match'], ['Kind']];
  view.main.append(el('h1', { class: 'hidden' }, 'Verdicts'), form,
    el('div', { class: 'row' }, chips, el('span', { class: 'grow' }), live),
    el('div', { class: 'scroll' }, el('table', { class: 'list', 'aria-label': 'Verdicts' },
      el('thead', {}, el('tr', {}, headings.map(([text, kind]) => el('th', { scope: 'col', class: kind }, text)))),
      body)), el('div', { class: 'row' }, older, summary));
  try {
    await load(false);
  } catch (error) {
    if (error.status !== 404) throw error;
    view.main.append(notice(error.message, 'bad'));
    return;
  }
  const timer = setInterval(() => {
    if (isLive && !document.hidden) load(false).catch((error) => { summary.textContent = error.message; });
  }, REFRESH_MS);
  view.signal.addEventListener('abort', () => clearInterval(timer));
}
