// What the service knew of a player and of their match: the clock, the connection, the suspicion, and
// how many others have the same reason. It tells a cheat from a bad connection and from a mistake of the game.

import { address, bar, count, el, number, panel, quantity, table, withCode } from './dom.js';
import { checkName, moveReasonName, reasonName } from './words.js';

/** The only check of moves whose failure is a proof. */
export const PROOF = 'fast_clock_proven';

export const hasProof = (player) => player.timing?.flags[PROOF] > 0;

export function proofBadge(player) {
  return hasProof(player) ? [' ', el('span', { class: 'badge rejected' }, checkName(PROOF))] : null;
}

/** Names with their counts or sums, the largest first: "Aim 1.2, Speed 0.4". */
export function listOf(values, name, show, skipped = []) {
  return Object.entries(values ?? {}).filter(([code]) => !skipped.includes(code)).sort((a, b) => b[1] - a[1])
    .map(([code, value]) => `${name(code)} ${show(value)}`).join(', ');
}

/** The speed of a clock with its error: "1.05 × ± 0.01". */
export function clockSpeed(timing) {
  if (timing === undefined || timing.speed_error >= 1) return 'not measured';
  return `${timing.speed_estimate.toFixed(3)} × ± ${Math.max(0.001, timing.speed_error).toFixed(3)}`;
}

/** Whether packets came late or in bursts, so that an honest player can seem to cheat. */
function isUnstable({ connection, timing }) {
  return connection?.noise > 0.02 || connection?.spread > 0.03 || timing?.lag_bursts_per_minute > 1;
}

/** The connection in one line. */
export function connectionLine({ connection, timing }) {
  const parts = [];
  if (connection?.rtt !== undefined) {
    parts.push(`round trip ${quantity(connection.rtt, 'seconds')}`, `varies by ${quantity(connection.spread, 'seconds')}`);
  } else {
    parts.push('no round trip was posted');
  }
  if (connection?.noise > 0) parts.push(`packets up to ${quantity(connection.noise, 'seconds')} late`);
  if (timing) parts.push(`${count(timing.lag_bursts_per_minute)} packet bursts in the last minute`);
  if (connection?.quiet) parts.push('steady');
  return parts.join(' · ');
}

/** The reasons that a bad connection alone can cause. Late packets move no wall. */
const OF_TIME = ['time_mismatch', 'latency_jump', 'time_backwards', 'time_in_future', 'rewind_limit', 'fast_clock_suspected', 'timing_discrepancy', 'stale'];

const claimsOf = (player) => player.verdicts.accepted + player.verdicts.rejected + player.verdicts.inconclusive;

/** The players who claimed hits or sent moves, and how many of them have the reason of the verdict. */
function shareOf(scene) {
  const { kind, reason } = scene.verdict;
  const hasReason = (player) => (kind === 'move' ? player.timing?.reasons[reason] ?? 0 : player.reasons[reason] ?? 0);
  const players = (scene.match?.players ?? []).filter((player) => (kind === 'move' ? player.timing : claimsOf(player) > 0));
  const total = (player) => (kind === 'move' ? Object.values(player.timing.reasons).reduce((sum, n) => sum + n, 0) : claimsOf(player));
  return { players, hasReason, total, with: players.filter((player) => hasReason(player) > 0).length };
}

/** Sentences that an analyst should read first. */
export function remarks(scene) {
  const { verdict } = scene;
  const { player, hints } = scene.context ?? {};
  const share = shareOf(scene);
  const all = [];
  const found = scene.match?.hints ?? hints ?? [];
  const miss = found.find((hint) => OF_MISSES.includes(hint.code));
  if (miss) {
    all.push(`The data of the game server disagree in this match, so claims of all players miss. ${hintText(miss)}`);
  } else if (found.length > 0) {
    all.push('The integration of this match looks wrong, so many claims can be refused without a cheat. See the hints below.');
  } else if (verdict.verdict !== 'accepted' && share.players.length >= 3 && share.with / share.players.length > 0.6) {
    all.push(`${share.with} of ${share.players.length} players of this match have this reason. A mistake of the game or of the rules is likely.`);
  }
  if (player && hasProof(player)) all.push(`The clock of ${verdict.player} is proven to be fast.`);
  const own = share.players.find((one) => one.player === verdict.player);
  if (verdict.verdict !== 'accepted' && own && share.with === 1 && share.players.length >= 3 && share.hasReason(own) >= 5) {
    all.push(`Only ${verdict.player} has this reason: ${share.hasReason(own)} of their ${share.total(own)} ${verdict.kind === 'move' ? 'moves' : 'claims'}, and nobody else in the match.`);
  }
  if (player?.connection?.quiet && verdict.verdict === 'rejected' && OF_TIME.includes(verdict.reason)) {
    all.push(`The connection of ${verdict.player} was steady, so it does not explain this reason.`);
  }
  if (player && isUnstable(player) && OF_TIME.includes(verdict.reason)) all.push(`The connection of ${verdict.player} was unstable. Honest players can get this reason then.`);
  return all;
}

/** Hints with one number that explains the misses of most players. */
const OF_MISSES = ['interp_twice', 'hit_time', 'target_height'];

const hintText = (hint) => `${hint.claims} of ${hint.of} claims: ${hint.detail}`;

export function hintsList(hints) {
  return el('ul', {}, hints.map((hint) => el('li', {}, typeof hint === 'string' ? hint.replaceAll('_', ' ')
    : [el('b', {}, hint.code.replaceAll('_', ' ')), ' ', withCode(hintText(hint))])));
}

/** The matches of a player in which the data of the game server explain the misses. */
export function integrationNotice(sessions) {
  const wrong = sessions.filter(({ hints }) => hints?.some((hint) => OF_MISSES.includes(hint.code)));
  if (wrong.length === 0) return null;
  return el('div', { class: 'notice bad' },
    el('b', {}, `In ${count(wrong.length)} of their ${count(sessions.length)} newest matches, the data of the game server disagree. Claims of all players miss there, so refused claims are no sign of a cheat.`),
    wrong.slice(0, 5).map(({ match, hints }) => [el('p', {}, 'Match ', el('a', { href: address(['matches', match]) }, match)),
      hintsList(hints.filter((hint) => OF_MISSES.includes(hint.code)))]));
}

/** The player at the moment of the verdict. */
export function playerPanel(scene) {
  const { player, claims } = scene.context ?? {};
  const name = scene.verdict.player;
  if (player === undefined) return null;
  const { timing } = player;
  const rows = [
    ['Connection', connectionLine(player)],
    ['Speed of the clock', clockSpeed(timing)],
    ['Clock proven fast', timing ? `${count(timing.flags[PROOF])} moves` : 'sent no moves'],
    ['Other failed checks of moves', listOf(timing?.flags, checkName, count, [PROOF]) || 'none'],
    ['Refused moves', listOf(timing?.reasons, moveReasonName, count, ['ok', 'reset']) || 'none'],
    ['Suspicion', `${number(player.suspicion)}${player.suspicion > 0 ? `: ${listOf(player.suspicion_by, checkName, number)}` : ''}`],
    ['Their claims so far', listOf(player.reasons, reasonName, count) || 'none'],
    ['All claims of the match so far', claims.with_reason === undefined ? count(claims.all)
      : `${count(claims.all)}, ${count(claims.with_reason)} with this reason`],
  ];
  return panel(`${name} at this moment`,
    el('dl', { class: 'facts' }, rows.map(([what, value]) => [el('dt', {}, what), el('dd', {}, value)])));
}

/** All players of the match, sorted by the share of their claims or moves that has this reason. */
export function everybodyPanel(scene) {
  const { verdict, match } = scene;
  if (!match?.players) return null;
  const share = shareOf(scene);
  const { total } = share;
  const part = (player) => share.hasReason(player) / Math.max(1, total(player));
  const sorted = [...share.players].sort((a, b) => part(b) - part(a) || total(b) - total(a)).slice(0, 64);
  const hints = match.hints ?? [];
  return panel('Everybody in this match',
    el('p', { class: 'muted' }, `${match.ended ? 'When the match ended' : 'Until now'}: ${count(share.with)} of ${count(share.players.length)} players have the reason `
      + `“${reasonName(verdict.reason, verdict.kind)}”.`),
    hints.length > 0 ? el('div', { class: 'notice bad' }, el('b', {}, 'The integration looks wrong.'), hintsList(hints)) : null,
    table('Everybody in this match', ['Player', [verdict.kind === 'move' ? 'Moves' : 'Claims', 'num'], ['With this reason', 'num'], '', ['Suspicion', 'num'],
      ['Speed of the clock', 'num'], 'Connection'],
    sorted.map((player) => [[el('a', { href: address(['players', player.player]) }, player.player), proofBadge(player)],
      count(total(player)), `${count(share.hasReason(player))} (${number(100 * part(player))} %)`, bar(part(player), 'rejected'),
      number(player.suspicion), clockSpeed(player.timing), connectionLine(player)])));
}
