// The report of a player: their verdicts, and how near they come to each limit, against everybody else.

import { address, bar, color, count, el, notice, number, panel, table, time } from './dom.js';
import { drawBars } from './charts.js';
import { json, route } from './net.js';
import { checkName, reasonName, verdicts } from './words.js';

export const title = (view) => (view.parts[1] ? `Player ${view.parts[1]}` : 'Players');

function search(name) {
  const input = el('input', { name: 'player', value: name, required: true, autocomplete: 'off', spellcheck: 'false' });
  return el('form', { class: 'filters', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    location.hash = address(['players', input.value.trim()]);
  } }, el('label', {}, 'Player or account', input), el('button', { class: 'primary' }, 'Show'));
}

/** The players of the newest stored verdicts: a start for those who know no name. */
async function choose(view) {
  const { verdicts: newest } = await json(route(['verdicts'], { limit: 1000 }));
  const players = new Map();
  for (const item of newest) {
    const one = players.get(item.player) ?? { rejected: 0, all: 0, reasons: new Map() };
    one.all += 1;
    if (item.verdict === 'rejected') {
      one.rejected += 1;
      one.reasons.set(item.reason, (one.reasons.get(item.reason) ?? 0) + 1);
    }
    players.set(item.player, one);
  }
  const sorted = [...players].sort((a, b) => b[1].rejected - a[1].rejected).slice(0, 50);
  const most = (one) => [...one.reasons].sort((a, b) => b[1] - a[1])[0]?.[0];
  view.main.append(panel('Most rejected claims', sorted.length === 0 ? notice('No verdict is stored yet.') : [
    el('p', { class: 'muted' }, `From the newest ${count(newest.length)} stored verdicts. A rejected claim is no proof of a cheat: open it and look.`),
    table('Players', ['Player', ['Rejected', 'num'], ['Stored', 'num'], '', 'Most frequent reason'], sorted.map(([name, one]) => [
      el('a', { href: address(['players', name]) }, name), count(one.rejected), count(one.all),
      bar(one.rejected / sorted[0][1].rejected || 0, 'rejected'), most(one) ? reasonName(most(one)) : ''])),
  ]));
}

function tiles(report) {
  const of = (verdict) => report.by_verdict?.[verdict] ?? 0;
  return el('div', { class: 'tiles' },
    ['accepted', 'rejected', 'inconclusive'].map((verdict) => el('a', {
      class: 'tile plain', href: address(['verdicts'], { player: report.player, verdict }),
    }, el('b', {}, count(of(verdict))), `${verdicts[verdict]}, stored`)),
    el('div', { class: 'tile' }, el('b', {}, count(report.matches?.length)), 'Matches'));
}

function reasonsPanel(report) {
  const sorted = Object.entries(report.by_reason ?? {}).sort((a, b) => b[1] - a[1]);
  const most = sorted[0]?.[1] ?? 1;
  return panel('Reasons', table('Reasons', ['Reason', ['Verdicts', 'num'], ''], sorted.map(([reason, n]) => [
    el('a', { href: address(['verdicts'], { player: report.player, reason }) }, reasonName(reason)), count(n), bar(n / most)])));
}

function matchesPanel(report) {
  return panel('Matches', table('Matches', ['Match', ['Verdicts', 'num'], ['Rejected', 'num'], 'Last'],
    (report.matches ?? []).map((one) => [
      el('a', { href: address(['verdicts'], { player: report.player, match: one.match }) }, one.match),
      count(one.verdicts), count(one.rejected), one.last ? time(one.last, true) : ''])));
}

/** How much of each limit they use, beside everybody else. */
function checksPanel(report, view) {
  const checks = (report.checks ?? []).filter((check) => check.count > 0);
  if (checks.length === 0) return null;
  const bins = checks.filter((check) => check.histogram?.some((n) => n > 0));
  const share = (list) => {
    const sum = list.reduce((a, b) => a + b, 0) || 1;
    return list.map((n) => (100 * n) / sum);
  };
  const box = panel('Share of each limit that they use',
    el('p', { class: 'muted' }, 'Measured value as a share of its limit; above 100 % a check fails. Honest players stay low, like everybody else.'),
    table('Checks', ['Check', ['Claims', 'num'], ['Usual (median)', 'num'], ['High (95 %)', 'num'], ['Everybody else: median', 'num'], ['95 %', 'num']],
      checks.map((check) => [checkName(check.check), count(check.count), `${number(check.p50 * 100)} %`, `${number(check.p95 * 100)} %`,
        check.others?.count > 0 ? `${number(check.others.p50 * 100)} %` : '–', check.others?.count > 0 ? `${number(check.others.p95 * 100)} %` : '–'])));
  const grid = el('div', { class: 'charts' });
  box.append(grid);
  queueMicrotask(() => bins.forEach((check) => {
    const canvas = el('canvas', { role: 'img', 'aria-label': `${checkName(check.check)}: share of claims by share of the limit, for ${report.player} and everybody else` });
    grid.append(el('figure', { class: 'chart' }, el('figcaption', {}, el('b', {}, checkName(check.check)), el('span', { class: 'muted' }, ' % of claims')),
      el('div', { class: 'tall' }, canvas)));
    const names = check.histogram.map((n, i) => (i === check.histogram.length - 1 ? `${i * 20} % +` : `${i * 20} %`));
    drawBars(canvas, names, [
      { label: report.player, data: share(check.histogram), backgroundColor: color('--accent') },
      { label: 'everybody else', data: share(check.others_histogram ?? []), backgroundColor: color('--arrival') },
    ], view.signal);
  }));
  return box;
}

export async function show(view) {
  const name = view.parts[1];
  view.main.append(el('h1', {}, name ?? 'Players'), search(name ?? ''));
  view.keys.set('/', { text: 'Search a player', run: () => view.main.querySelector('input').focus() });
  if (name === undefined) {
    await choose(view);
    return;
  }
  let report = null;
  try {
    report = await json(route(['players', name]));
  } catch (error) {
    if (error.status !== 404) throw error;
    view.main.append(notice(`${error.message} Their stored verdicts may still be there.`),
      el('a', { href: address(['verdicts'], { player: name }) }, `Stored verdicts of ${name}`));
    return;
  }
  view.main.append(tiles(report), ...[checksPanel(report, view)].filter(Boolean),
    el('div', { class: 'columns even' }, reasonsPanel(report), matchesPanel(report)));
}
