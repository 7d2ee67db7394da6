// The report of a player: their verdicts, and how near they come to each limit, compared with everybody else.

import { address, bar, color, count, el, lengthUnit, notice, number, panel, quantity, table, time } from './dom.js';
import { drawBars } from './charts.js';
import { clockSpeed, connectionLine, integrationNotice, listOf, PROOF } from './context.js';
import { json, route } from './net.js';
import { checkName, moveReasonName, reasonName, verdicts } from './words.js';

export const title = (view) => (view.parts[1] ? `Player ${view.parts[1]}` : 'Players');

function search(name) {
  const input = el('input', { name: 'player', value: name, required: true, autocomplete: 'off', spellcheck: 'false' });
  return el('form', { class: 'filters', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    location.hash = address(['players', input.value.trim()]);
  } }, el('label', {}, 'Player or account', input), el('button', { class: 'primary' }, 'Show'));
}

/** Lists the players of the newest stored verdicts, for readers who do not know a name yet. */
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
  const of = (verdict) => report.verdicts?.[verdict] ?? 0;
  return el('div', { class: 'tiles' },
    ['accepted', 'rejected', 'inconclusive'].map((verdict) => el('a', {
      class: 'tile plain', href: address(['verdicts'], { player: report.player, verdict }),
    }, el('b', {}, count(of(verdict))), `${verdicts[verdict]}, stored`)),
    [[count(report.matches), 'Matches'], [time(report.first), 'First stored verdict'], [time(report.last), 'Last stored verdict']]
      .map(([value, text]) => el('div', { class: 'tile' }, el('b', {}, value), text)));
}

function reasonsPanel(report) {
  const sorted = Object.entries(report.reasons ?? {}).sort((a, b) => b[1] - a[1]);
  const most = sorted[0]?.[1] ?? 1;
  return panel('Reasons', table('Reasons', ['Reason', ['Verdicts', 'num'], ''], sorted.map(([reason, n]) => [
    el('a', { href: address(['verdicts'], { player: report.player, reason }) }, reasonName(reason)), count(n), bar(n / most)])));
}

async function newestPanel(name) {
  const { verdicts: newest } = await json(route(['verdicts'], { player: name, limit: 12 }));
  return panel('Newest verdicts', table('Newest verdicts', ['Time', 'Reason', ['Measured', 'num'], 'Target', 'Match'],
    newest.map((item) => [el('a', { href: address(['verdicts', item.verdict_id]) }, time(item.at)), reasonName(item.reason, item.kind),
      item.measured === undefined ? '' : quantity(item.measured, item.unit, lengthUnit(item.ruleset)), item.target ?? '', item.match])));
}

/** Compares how much of each limit the player and everybody else use. */
function checksPanel(report, view) {
  const checks = report.checks ?? [];
  if (checks.length === 0) return null;
  const percent = (value) => (value === undefined ? '–' : `${number(value * 100)} %`);
  const names = checks.map((check) => checkName(check.check));
  // A bar longer than this would hide all others; the table has its number.
  const range = (one) => (one?.claims > 0 ? [Math.min(100 * one.p50, 296), Math.min(100 * one.p95, 300)] : null);
  const canvas = el('canvas', { role: 'img', 'aria-label': `Share of each limit that ${report.player} and everybody else use. The table has the numbers.` });
  const box = panel('Share of each limit that they use',
    el('p', { class: 'muted' }, `Only verdicts under the ruleset ${report.ruleset} (${report.revision.slice(0, 15)}), theirs and everybody else's. `,
      'Measured value as a share of its limit; for a minimum, the limit as a share of the measured value. '
      + 'A check fails above 100 %. '
      + 'Bars reach from the median to the 95th percentile, and end at 300 %.'),
    el('div', { class: 'columns even' }, el('div', { class: 'tall' }, canvas),
      table('Checks', ['Check', ['Claims', 'num'], ['Median', 'num'], ['95 %', 'num'], ['Everybody else: median', 'num'], ['Everybody else: 95 %', 'num']],
        checks.map((check) => [checkName(check.check), count(check.claims), percent(check.p50), percent(check.p95),
          percent(check.others?.p50), percent(check.others?.p95)]))));
  queueMicrotask(() => drawBars(canvas, names, [
    { label: report.player, data: checks.map(range), backgroundColor: color('--accent'), minBarLength: 3 },
    { label: 'everybody else', data: checks.map((check) => range(check.others)), backgroundColor: color('--arrival'), minBarLength: 3 },
  ], view.signal));
  return box;
}

const measures = { margin: ['Margin to the body', 'length'], rewind: ['Looked back', 'seconds'] };

function measuresPanel(report) {
  const rows = (report.measures ?? []).map((one) => {
    const [text, unit] = measures[one.measure] ?? [one.measure, 'none'];
    const show = (value) => (value === undefined ? '–' : quantity(value, unit));
    return [text, count(one.claims), show(one.p50), show(one.p95), show(one.others?.p50), show(one.others?.p95)];
  });
  return rows.length === 0 ? null : panel('Times and margins', table('Times and margins',
    ['What', ['Claims', 'num'], ['Median', 'num'], ['95 %', 'num'], ['Everybody else: median', 'num'], ['Everybody else: 95 %', 'num']], rows));
}

/** The player at the end of each of their newest matches. */
function sessionsPanel(report) {
  const sessions = report.sessions ?? [];
  if (sessions.length === 0) return null;
  return panel('Newest matches', el('p', { class: 'muted' }, 'As the service knew them when the match ended or they left.'),
    table('Newest matches', ['Match', 'Until', ['Accepted', 'num'], ['Rejected', 'num'], ['Suspicion', 'num'], 'By check', ['Clock proven fast', 'num'],
      ['Speed of the clock', 'num'], 'Refused moves', 'Connection'],
    sessions.map(({ at, match, summary }) => [el('a', { href: address(['matches', match]) }, match), time(at),
      count(summary.verdicts.accepted), count(summary.verdicts.rejected), number(summary.suspicion), listOf(summary.suspicion_by, checkName, number),
      count(summary.timing?.flags[PROOF]), clockSpeed(summary.timing), listOf(summary.timing?.reasons, moveReasonName, count, ['ok', 'reset']),
      connectionLine(summary)])));
}

export async function show(view) {
  const name = view.parts[1];
  view.main.append(el('h1', {}, name ?? 'Players'), search(name ?? ''));
  view.keys.set('/', { text: 'Search a player', run: () => view.main.querySelector('input').focus() });
  if (name === undefined) {
    await choose(view);
    return;
  }
  try {
    const [report, newest] = await Promise.all([json(route(['players', name])), newestPanel(name)]);
    view.main.append(tiles(report), ...[integrationNotice(report.sessions ?? []), sessionsPanel(report), checksPanel(report, view), measuresPanel(report)].filter(Boolean),
      el('div', { class: 'columns even' }, reasonsPanel(report), newest));
  } catch (error) {
    if (error.status !== 404) throw error;
    view.main.append(notice(error.message));
  }
}
