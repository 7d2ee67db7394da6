// The open matches, with the hints about their integration and the suspicion of their players.

import { clockSpeed, connectionLine, hasProof, hintsList, listOf, PROOF, proofBadge } from './context.js';
import { address, bar, count, el, notice, number, panel, quantity, table, time } from './dom.js';
import { json, route } from './net.js';
import { checkName, moveReasonName, reasonName } from './words.js';

const REFRESH_MS = 3000;

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
      match.newest_time === null ? '' : `${number(match.newest_time)} s`, bytes(match.history_bytes)])));
}

function hintsPanel(match) {
  const hints = match.hints ?? [];
  return panel('Hints', hints.length === 0
    ? el('p', { class: 'muted' }, 'Nothing looks like a mistake of the integration.')
    : hintsList(hints));
}

/** Players whose clock is proven to be fast come first. */
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

/** The clocks of the players who sent moves. */
function movesPanel(match) {
  const players = sorted(match.players.filter((player) => player.timing));
  if (players.length === 0) return null;
  return panel('Moves',
    players.some(hasProof) ? el('p', {}, el('span', { class: 'badge rejected' }, checkName(PROOF)),
      ' An honest clock could not have made these moves after the snapshots that they acknowledge.') : null,
    el('p', { class: 'muted' }, 'Speed of the clock: 1 is honest, 1.05 is 5 % fast. It is an estimate, and can be off by the number behind ±. '
      + 'Packet bursts come from bad connections, too.'),
    table('Moves of the players',
      ['Player', ['Proven', 'num'], ['Speed of the clock', 'num'], 'Connection', 'Other failed checks', 'Refused moves'],
      players.map(({ timing, ...player }) => [[player.player, proofBadge({ timing })], count(timing.flags[PROOF]),
        clockSpeed(timing), connectionLine({ timing, ...player }), listOf(timing.flags, checkName, count, [PROOF]),
        listOf(timing.reasons, moveReasonName, count, ['ok', 'reset'])])));
}

function one(match) {
  return [el('div', { class: 'tiles' },
    ...[[count(match.player_count), 'Players'], [match.newest_time === null ? '–' : quantity(match.newest_time, 'seconds'), 'Match clock'],
      [match.ruleset, 'Ruleset'], [match.map ?? 'none', 'Map'], [bytes(match.history_bytes), 'Memory']]
      .map(([value, text]) => el('div', { class: 'tile' }, el('b', {}, value), text))),
  hintsPanel(match), playersPanel(match), movesPanel(match)].filter(Boolean);
}

/** The newest match with this name that has ended, from its summaries; undefined if none is stored. */
async function ended(name) {
  const { summaries } = await json(route(['summaries'], { match: name, limit: 1000 }));
  const first = summaries.findIndex((one) => one.kind === 'match');
  if (first < 0) return undefined;
  const end = summaries.findIndex((one, i) => i > first && one.kind === 'match');
  const players = summaries.slice(first + 1, end < 0 ? undefined : end).map((one) => one.summary);
  return { ...summaries[first].summary, ended: summaries[first].at, players };
}

async function showEnded(name) {
  const match = await ended(name).catch((error) => {
    if (error.status !== 404) throw error;
  });
  const link = el('a', { href: address(['verdicts'], { match: name }) }, 'Its stored verdicts');
  if (match === undefined) return [notice(['This match has ended, or was never opened. ', link])];
  return [notice([`This match has ended: ${time(match.ended, true)}. `, link]), ...one(match)];
}

/** The matches that ended last; empty if no evidence is stored. */
async function endedPanel() {
  const { summaries } = await json(route(['summaries'], { kind: 'match', limit: 50 }));
  if (summaries.length === 0) return null;
  return panel('Ended matches', table('Ended matches',
    ['Match', 'Ended', 'Ruleset', 'Map', ['Players', 'num'], ['Accepted', 'num'], ['Rejected', 'num'], ['Inconclusive', 'num'], 'Hints'],
    summaries.map(({ at, match, ruleset, summary }) => [el('a', { href: address(['matches', match]) }, match), time(at), ruleset,
      summary.map ?? 'none', count(summary.player_count), count(summary.verdicts.accepted), count(summary.verdicts.rejected),
      count(summary.verdicts.inconclusive), summary.hints.map((hint) => hint.code.replaceAll('_', ' ')).join(', ')])));
}

export async function show(view) {
  const name = view.parts[1];
  const place = el('div');
  view.main.append(el('div', { class: 'row' }, el('h1', {}, name ?? 'Matches'), el('span', { class: 'grow' }),
    name ? el('a', { class: 'button', href: address(['verdicts'], { match: name }) }, 'Verdicts of this match') : null), place);
  let hasEnded = false;
  const past = name ? null : await endedPanel().catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  const load = async () => {
    let shown;
    try {
      const answer = await json(route(name ? ['matches', name] : ['matches']));
      shown = name ? one(answer) : [list(answer), past].filter(Boolean);
    } catch (error) {
      if (!name || error.status !== 404) throw error;
      hasEnded = true;
      shown = await showEnded(name);
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
