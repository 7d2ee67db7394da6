// Plain words for the codes of the service.

import { quantity } from './dom.js';

export const checks = {
  shape: 'Shape of the claim', identity: 'Shot number', trajectory: 'Same path twice', weapon: 'Weapon',
  fire_rate: 'Rate of fire', rewind: 'Age of the claim', latency: 'Claimed time and latency', life: 'Alive',
  team: 'Teams', origin: 'Where the shot began', binding: 'Claim and posted shot', aim: 'Aim', range: 'Range',
  world: 'Walls in the way', contact: 'Touches the body', bystander: 'Players in the way', pellets: 'Pellets',
  flight: 'Flight', blast: 'Explosion',
  // checks of moves
  fast_clock_proven: 'Clock proven fast', fast_clock_suspected: 'Clock suspected fast',
  timing_discrepancy: 'Ahead of the server', teleport: 'Unannounced teleport', speed: 'Speed', acceleration: 'Acceleration',
  gravity: 'Gravity', path: 'Through the world', ground: 'No ground', base: 'Base', stance: 'Stance',
};

export const reasons = {
  ok: 'Accepted', ok_lenient: 'Accepted, near miss', unknown_target_history: 'Target not in any frame',
  unknown_shooter_history: 'Shooter not in any frame', history_too_short: 'Older than the history',
  low_confidence_gap: 'Gap in the frames', history_gap: 'Newer than the frames', not_recorded: 'Cannot be recorded',
  number_forgotten: 'Shot number forgotten', over_budget: 'Too much work', no_weapon: 'No weapon named',
  degenerate_trace: 'Trace too short', coordinate_out_of_world: 'Outside the world', duplicate: 'Claimed twice',
  no_matching_shot: 'No matching shot', duplicate_trajectory: 'Same path again', unknown_weapon: 'Unknown weapon',
  weapon_not_available: 'Weapon not available', fire_rate: 'Fired too fast', rewind_limit: 'Too far in the past',
  time_in_future: 'In the future', time_mismatch: 'Time does not fit the latency', time_backwards: 'Time ran backwards',
  latency_jump: 'Latency jumped', shooter_dead: 'Shooter was dead', target_dead: 'Target was dead',
  stale_life: 'Earlier life of the target', target_protected: 'Target protected', friendly_fire: 'Hit their own team', self_hit: 'Hit themselves',
  origin_mismatch: 'Began too far from the eye', origin_occluded: 'Began behind a wall',
  direction_mismatch: 'Other direction than the shot', aim_mismatch: 'Away from the aim', out_of_range: 'Out of range',
  occluded_world: 'Wall in the way', impact_not_on_surface: 'Impact in the air', no_intersection: 'Missed the body',
  wrong_target: 'Hit somebody else', blocked_by_player: 'Player in the way', too_many_victims: 'Too many victims',
  pellet_count: 'Too many pellets', spread_mismatch: 'Wrong spread', muzzle_velocity: 'Wrong speed',
  flight_time: 'Wrong time of flight', blast_occluded: 'Sheltered from the blast', outside_blast: 'Outside the blast',
  malformed: 'Malformed claim',
};

export const moveReasons = {
  stale: 'Too late', duplicate: 'Sent twice', too_small: 'Too short', reset_too_soon: 'Clock reset too soon',
  bad_timestamp: 'Bad time', epoch_too_soon: 'New clock too soon', capacity: 'Match is full', not_in_control: 'Player was dead',
  fast_clock_proven: checks.fast_clock_proven, fast_clock_suspected: checks.fast_clock_suspected,
  timing_discrepancy: checks.timing_discrepancy, too_much_acceleration: 'Accelerates too much', through_world: checks.path,
  stance_mismatch: 'Stance does not fit', unannounced_teleport: checks.teleport, too_fast: 'Moves too fast',
  gravity_violation: 'Ignores gravity', no_ground: checks.ground, off_base: 'Left the base', unknown_base: 'Unknown base',
};

export const labels = {
  cheat: 'Cheat', legit: 'Legitimate', lag: 'Bad connection', bug: 'Bug of the game', unsure: 'Not sure',
};

export const verdicts = { accepted: 'Accepted', rejected: 'Rejected', inconclusive: 'Inconclusive' };

/** "same_trajectory" -> "Same trajectory", for codes of newer versions of the service. */
function spell(code) {
  const words = String(code).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const checkName = (code) => checks[code] ?? spell(code);
export const moveReasonName = (code) => moveReasons[code] ?? spell(code);
export const reasonName = (code, kind) => (kind === 'move' ? moveReasonName(code) : reasons[code] ?? moveReasonName(code));

/** The check that decided a verdict, or undefined. */
export function decider(answer) {
  const all = answer.checks ?? [];
  return all.find((check) => check.reason === answer.reason && check.mode === 'enforce')
    ?? all.find((check) => check.reason === answer.reason);
}

// One sentence for each common reason. The letters stand for the measured value (m), the limit (l), the target (t),
// the shooter (s) and the check (c).
const sentences = {
  no_intersection: (x) => `The shot passed ${x.m} away from ${x.t} at the moment that ${x.s} saw.`,
  wrong_target: (x) => `The shot hit ${x.c.player ?? 'somebody else'} and missed ${x.t} by ${x.m}.`,
  occluded_world: (x) => `${x.c.mover ?? 'A wall'} stopped the shot after ${x.m}; ${x.t} was ${x.l} away.`,
  blocked_by_player: (x) => `${x.c.player ?? 'Another player'} stood in the way after ${x.m}; ${x.t} was ${x.l} away.`,
  origin_mismatch: (x) => `The shot began ${x.m} from the eye of ${x.s}; ${x.l} are allowed.`,
  origin_occluded: (x) => `A wall is between the eye of ${x.s} and the place where the shot began.`,
  aim_mismatch: (x) => `The shot went ${x.m} away from where ${x.s} aimed; ${x.l} are allowed.`,
  direction_mismatch: (x) => `The direction of the claim differs by ${x.m} from that of the posted shot; ${x.l} are allowed.`,
  rewind_limit: (x) => `${x.s} claims a moment ${x.m} in the past; ${x.l} are allowed.`,
  time_in_future: (x) => `${x.s} claims a moment ${x.m} in the future; ${x.l} are allowed.`,
  time_mismatch: (x) => `The claimed moment differs by ${x.m} from the moment expected from the latency of ${x.s}; ${x.l} are allowed.`,
  latency_jump: (x) => `The claimed moments of ${x.s} jumped by ${x.m} relative to their latency; ${x.l} are allowed.`,
  fire_rate: (x) => `The weapon of ${x.s} is ${x.m} ahead of its rate of fire; ${x.l} are allowed.`,
  out_of_range: (x) => `The shot is ${x.m} long; the weapon reaches ${x.l}.`,
  duplicate: (x) => `${x.s} claimed this shot before.`,
  duplicate_trajectory: (x) => `${x.s} claimed the same path before, ${x.m} apart.`,
  shooter_dead: (x) => `${x.s} had been dead for ${x.m} when they fired.`,
  target_dead: (x) => `${x.t} was already dead.`,
  friendly_fire: (x) => `${x.t} is on the team of ${x.s}.`,
  outside_blast: (x) => `${x.t} was ${x.m} from the blast; it reaches ${x.l}.`,
  blast_occluded: (x) => `The world hides ${x.t} from the blast.`,
  spread_mismatch: (x) => `A pellet is ${x.m} from another pellet or from its expected direction; ${x.l} are allowed.`,
  ok: (x) => (x.hasTarget ? `The shot touched ${x.t}, and every enforced check passed.` : 'Every enforced check passed.'),
};

// The same for moves. Other reasons have the detail of the check, whose words are those of the API.
const moveSentences = {
  fast_clock_proven: (x) => `The clock of ${x.s} is ${x.m} ahead of what the snapshots that they received allow; ${x.l} are allowed.`,
};

/** Capitalizes a sentence that begins with one of these words. Names of players stay as they are. */
function capital(text) {
  return /^(the|a|an|within|posted|shot|neither|additional|spawns) /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** The verdict in one plain sentence, with names and numbers. */
export function sentence(scene) {
  const { answer, verdict } = scene;
  if (scene.kind === 'move') {
    const failed = answer.checks?.find((one) => one.reason === verdict.reason);
    if (failed?.measured !== undefined && verdict.reason in moveSentences) {
      const show = (value) => quantity(value, failed.unit, scene.length_unit);
      return moveSentences[verdict.reason]({ s: verdict.player, m: show(failed.measured), l: show(failed.limit) });
    }
    const text = failed?.detail ?? `a move of ${verdict.player} was refused: ${moveReasonName(verdict.reason)}`;
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
  const check = decider(answer) ?? {};
  let isComplete = answer.reason in sentences;
  const show = (value) => {
    isComplete = isComplete && value !== undefined;
    return quantity(value, check.unit, scene.length_unit);
  };
  const facts = {
    c: check,
    get m() { return show(check.measured); },
    get l() { return show(check.limit); },
    s: verdict.player ?? 'the shooter',
    t: verdict.target ?? 'the target',
    hasTarget: verdict.target !== undefined,
  };
  const text = sentences[answer.reason]?.(facts);
  if (isComplete) return capital(text);
  const other = scene.sentence || check.detail || reasonName(answer.reason);
  return `${capital(other)}${other.endsWith('.') ? '' : '.'}`;
}
