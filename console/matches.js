// The open matches, with the hints about their integration and the suspicion of their players.

import { address, bar, count, el, notice, number, panel, quantity, table, withCode } from './dom.js';
import { json, route } from './net.js';
import { checkName, moveReasonName, reasonName } from './words.js';

const REFRESH_MS = 3000;

/** The only check of moves whose failure is a proof. */
const PROOF = 'fast_clock_proven';

export const title = (view) => (view.parts[1] ? `Match ${view.parts[1]}` : 'Matches');

function bytes(value) {
  return value >= 1e6 ? `${number(value / 1e6)} MB` : `${number(value / 1e3)} kB`;
}

function list({ matches, replica }) {
  const where = replica === undefined ? '' : ` on ${replica}`;
  if (matches.length === 0) return notice(`No match is open now${where}.`);
  return panel(`Open matches${where}`, table('Open matches',
    ['Match', 'Ruleset', 'Map', ['Players', 'num'], ['Moving parts', 'num'], ['Clock', 'num'], ['Memory', 'num']],
    matches.map((match) => [el('a', { href: address(['matches', match.match]) }, match.match), match.ruleset, match.map ?? 'none',
      count(match.player_count), count(match.mover_count),
      match.newest_time === undefined ? '' : `${number(match.newest_time)} s`, bytes(match.history_bytes)])));
}

function hintsPanel(match) {
  const hints = match.hints ?? [];
  return panel('Hints', hints.length === 0
    ? el('p', { class: 'muted' }, 'Nothing looks like a mistake of the integration.')
    : el('ul', {}, hints.map((hint) => el('li', {}, el('b', {}, hint.code.replaceAll('_', ' ')), ' ', withCode(hint.detail)))));
}

/** Names with their counts or sums, the largest first: "Aim 1.2, Speed 0.4". */
function listOf(values, name, show, skipped = []) {
  return Object.entries(values).filter(([code]) => !skipped.includes(code)).sort((a, b) => b[1] - a[1])
    .map(([code, value]) => `${name(code)} ${show(value)}`).join(', ');
}

const hasProof = (player) => player.timing?.flags[PROOF] > 0;

function proofBadge(player) {
  return hasProof(player) ? [' ', el('span', { class: 'badge rejected' }, checkName(PROOF))] : null;
}

/** Those whose clock is proven to be fast come first. */
function sorted(players) {
  return [...players].sort((a, b) => hasProof(b) - hasProof(a) || b.suspicion - a.suspicion);
}

function playersPanel(match) {
  const players = sorted(match.players);
  const most = Math.max(1, ...players.map((player) => player.suspicion));
  return panel('Players', table('Players of the match',
    ['Player', 'Team', 'State', ['Accepted', 'num'], ['Rejected', 'num'], ['Inconclusive', 'num'], ['Suspicion', 'num'], '', 'By check', 'Reasons'],
    players.map((player) => [
      [el('a', { href: address(['players', player.player]) }, player.player), proofBadge(player)],
      player.team ?? '', player.alive ? 'alive' : 'dead',
      count(player.verdicts.accepted), count(player.verdicts.rejected), count(player.verdicts.inconclusive),
      number(player.suspicion), bar(player.suspicion / most, 'rejected'),
      listOf(player.suspicion_by, checkName, number), listOf(player.reasons, reasonName, count, ['ok'])])));
}

/** The clocks of those who sent moves. */
function movesPanel(match) {
  const players = sorted(match.players.filter((player) => player.timing));
  if (players.length === 0) return null;
  return panel('Moves',
    players.some(hasProof) ? el('p', {}, el('span', { class: 'badge rejected' }, checkName(PROOF)),
      ' An honest clock could not have made these moves after the snapshots that they acknowledge.') : null,
    el('p', { class: 'muted' }, 'Speed of the clock: 1 is honest, 1.05 is 5 % fast. It is an estimate. '
      + 'Packet bursts come from bad connections, too.'),
    table('Moves of the players',
      ['Player', ['Proven', 'num'], ['Speed of the clock', 'num'], ['Packet bursts a minute', 'num'], 'Other failed checks', 'Refused moves'],
      players.map(({ timing, ...player }) => [[player.player, proofBadge({ timing })], count(timing.flags[PROOF]),
        number(timing.speed_estimate), count(timing.lag_bursts_per_minute), listOf(timing.flags, checkName, count, [PROOF]),
        listOf(timing.reasons, moveReasonName, count, ['ok', 'reset'])])));
}

function one(match) {
  return [el('div', { class: 'tiles' },
    ...[[count(match.player_count), 'Players'], [match.newest_time === undefined ? '–' : quantity(match.newest_time, 'seconds'), 'Match clock'],
      [match.ruleset, 'Ruleset'], [match.map ?? 'none', 'Map'], [bytes(match.history_bytes), 'Memory']]
      .map(([value, text]) => el('div', { class: 'tile' }, el('b', {}, value), text))),
  hintsPanel(match), playersPanel(match), movesPanel(match)].filter(Boolean);
}

function ended(name) {
  return notice(['This match has ended, or was never opened. ',
    el('a', { href: address(['verdicts'], { match: name }) }, 'Its stored verdicts')]);
}

export async function show(view) {
  const name = view.parts[1];
  const place = el('div');
  view.main.append(el('div', { class: 'row' }, el('h1', {}, name ?? 'Matches'), el('span', { class: 'grow' }),
    name ? el('a', { class: 'button', href: address(['verdicts'], { match: name }) }, 'Verdicts of this match') : null), place);
  let hasEnded = false;
  const load = async () => {
    let shown;
    try {
      const answer = await json(route(name ? ['matches', name] : ['matches']));
      shown = name ? one(answer) : [list(answer)];
    } catch (error) {
      if (!name || error.status !== 404) throw error;
      hasEnded = true;
      shown = [ended(name)];
    }
    // A refresh must not take the focus from a link that the reader is on.
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    place.replaceChildren(...shown);
    if (focused) place.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  await load();
  const timer = setInterval(() => {
    if (!document.hidden && !hasEnded) load().catch(() => {});
  }, REFRESH_MS);
  view.signal.addEventListener('abort', () => clearInterval(timer));
}
