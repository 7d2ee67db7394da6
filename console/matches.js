// The open matches, with the hints about their integration and the suspicion of their players.

import { address, bar, count, el, notice, number, panel, quantity, table } from './dom.js';
import { json, route } from './net.js';
import { checkName, reasonName } from './words.js';

const REFRESH_MS = 3000;

export const title = (view) => (view.parts[1] ? `Match ${view.parts[1]}` : 'Matches');

function bytes(value) {
  return value >= 1e6 ? `${number(value / 1e6)} MB` : `${number(value / 1e3)} kB`;
}

function list({ matches }) {
  if (matches.length === 0) return notice('No match is open now.');
  return panel('Open matches', table('Open matches',
    ['Match', 'Ruleset', 'Map', ['Players', 'num'], ['Moving parts', 'num'], ['Clock', 'num'], ['Memory', 'num']],
    matches.map((match) => [el('a', { href: address(['matches', match.match]) }, match.match), match.ruleset, match.map ?? 'none',
      count(match.player_count), count(match.mover_count),
      match.newest_time === undefined ? '' : `${number(match.newest_time)} s`, bytes(match.history_bytes)])));
}

function hintsPanel(match) {
  const hints = match.hints ?? [];
  return panel('Hints', hints.length === 0
    ? el('p', { class: 'muted' }, 'Nothing looks like a mistake of the integration.')
    : el('ul', {}, hints.map((hint) => el('li', {}, el('b', {}, String(hint.hint ?? hint.code ?? '').replaceAll('_', ' ')),
      ` ${hint.detail ?? hint.text ?? hint.message ?? ''}`))));
}

function playersPanel(match) {
  const players = [...(match.players ?? [])].sort((a, b) => (b.suspicion ?? 0) - (a.suspicion ?? 0));
  const most = Math.max(1, ...players.map((player) => player.suspicion ?? 0));
  const worst = (player) => Object.entries(player.suspicion_by ?? {}).sort((a, b) => b[1] - a[1])[0]?.[0];
  const reasons = (player) => Object.entries(player.reasons ?? {}).filter(([reason]) => reason !== 'ok')
    .sort((a, b) => b[1] - a[1]).slice(0, 3).map(([reason, n]) => `${reasonName(reason)} ${count(n)}`).join(', ');
  return panel('Players', table('Players of the match',
    ['Player', 'Team', 'State', ['Accepted', 'num'], ['Rejected', 'num'], ['Inconclusive', 'num'], ['Suspicion', 'num'], '', 'Mostly from', 'Reasons'],
    players.map((player) => [el('a', { href: address(['players', player.player]) }, player.player), player.team ?? '',
      player.alive === false ? 'dead' : 'alive', count(player.verdicts?.accepted), count(player.verdicts?.rejected),
      count(player.verdicts?.inconclusive), number(player.suspicion ?? 0), bar((player.suspicion ?? 0) / most, 'rejected'),
      worst(player) ? checkName(worst(player)) : '', reasons(player)])));
}

function one(match) {
  return [el('div', { class: 'tiles' },
    ...[[count(match.player_count), 'Players'], [match.newest_time === undefined ? '–' : quantity(match.newest_time, 'seconds'), 'Match clock'],
      [match.ruleset, 'Ruleset'], [match.map ?? 'none', 'Map'], [bytes(match.history_bytes), 'Memory']]
      .map(([value, text]) => el('div', { class: 'tile' }, el('b', {}, value), text))),
  hintsPanel(match), playersPanel(match)];
}

export async function show(view) {
  const name = view.parts[1];
  const place = el('div');
  view.main.append(el('div', { class: 'row' }, el('h1', {}, name ?? 'Matches'), el('span', { class: 'grow' }),
    name ? el('a', { class: 'button', href: address(['verdicts'], { match: name }) }, 'Verdicts of this match') : null), place);
  const load = async () => {
    const answer = await json(route(name ? ['matches', name] : ['matches']));
    // A refresh must not take the focus from a link that the reader is on.
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    place.replaceChildren(...[name ? one(answer) : list(answer)].flat());
    if (focused) place.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  await load();
  const timer = setInterval(() => {
    if (!document.hidden) load().catch(() => {});
  }, REFRESH_MS);
  view.signal.addEventListener('abort', () => clearInterval(timer));
}
