// Rules: how often each reason was given, what reviews say about it, and what other rules would change.

import { address, announce, bar, count, el, notice, number, panel, table } from './dom.js';
import { json, metrics, post, route } from './net.js';
import { reasonName, verdicts } from './words.js';

export const title = (view) => (view.parts[1] ? `Ruleset ${view.parts[1]}` : 'Rules');

/** Counts since the service started: reason -> {enforce, shadow}. */
async function countReasons() {
  const counts = new Map();
  for (const { labels, value } of (await metrics()).get('hindsight_verdicts_total') ?? []) {
    if (labels.verdict === 'accepted' && labels.mode === 'enforce') continue;
    const one = counts.get(labels.reason) ?? { verdict: labels.verdict, enforce: 0, shadow: 0 };
    one[labels.mode] = (one[labels.mode] ?? 0) + value;
    counts.set(labels.reason, one);
  }
  return counts;
}

/** What reviews say; empty if the service does not keep any. */
async function precision() {
  try {
    const { reasons } = await json(route(['precision']));
    return new Map(reasons.map((one) => [one.reason, one]));
  } catch (error) {
    if (error.status === 404) return new Map();
    throw error;
  }
}

function reasonsPanel(counts, reviews) {
  const rows = [...new Set([...counts.keys(), ...reviews.keys()])]
    .map((reason) => ({ reason, ...counts.get(reason), review: reviews.get(reason) }))
    .filter((row) => row.enforce > 0 || row.shadow > 0 || row.review)
    .sort((a, b) => (b.enforce ?? 0) - (a.enforce ?? 0) || (b.shadow ?? 0) - (a.shadow ?? 0));
  const most = Math.max(1, ...rows.map((row) => Math.max(row.enforce ?? 0, row.shadow ?? 0)));
  const judged = ({ review }) => (review ? ['cheat', 'legit', 'lag', 'bug', 'unsure'].reduce((sum, label) => sum + (review[label] ?? 0), 0) : 0);
  return panel('Reasons since the service started', rows.length === 0 ? notice('No claim was refused yet.') : [
    el('p', { class: 'muted' }, 'Enforced checks refuse claims. Checks in shadow only count what they would refuse. '
      + 'Precision: the share of reviewed verdicts that analysts labelled as a cheat.'),
    table('Reasons', ['Reason', 'Verdict', ['Enforced', 'num'], '', ['In shadow', 'num'], '', ['Reviewed', 'num'], ['Precision', 'num']],
      rows.map((row) => [
        el('a', { href: address(['verdicts'], { reason: row.reason }) }, reasonName(row.reason)), verdicts[row.verdict] ?? '',
        count(row.enforce), bar((row.enforce ?? 0) / most, 'rejected'), count(row.shadow), bar((row.shadow ?? 0) / most, 'shadow'),
        count(judged(row)), row.review?.cheat_share === undefined ? '–' : `${number(row.review.cheat_share * 100)} %`]))]);
}

function rulesetsPanel({ rulesets }) {
  return panel('Rulesets', table('Rulesets', ['Ruleset', 'Revision', 'Origin'], rulesets.map((one) => [
    el('a', { href: address(['rulesets', one.name]) }, one.name), el('code', {}, one.revision.slice(0, 19)),
    one.builtin ? 'built in' : 'own'])));
}

// ---- what would change ----

function changes(answer) {
  const reasons = answer.reasons ?? [];
  const ids = answer.changes ?? [];
  const both = (one) => `${verdicts[one.verdict] ?? one.verdict}: ${reasonName(one.reason)}`;
  return el('div', {},
    el('div', { class: 'tiles' }, [['computed', 'Computed'], ['unchanged', 'Unchanged'], ['changed', 'Changed'], ['incomparable', 'Not comparable']]
      .map(([key, text]) => el('div', { class: `tile${key === 'changed' && answer.changed > 0 ? ' bad' : ''}` }, el('b', {}, count(answer[key])), text))),
    answer.next ? notice('Some verdicts were not computed, because there are more than the limit, or because the time was up.') : null,
    reasons.length > 0 ? table('Verdicts before and after', ['Verdict and reason', ['Before', 'num'], ['After', 'num']],
      reasons.map((one) => [both(one), count(one.before), count(one.after)])) : null,
    ids.length > 0 ? table('Changed verdicts', ['Verdict', 'Before', 'After'], ids.map((one) => [
      el('a', { href: address(['verdicts', one.verdict_id]) }, one.verdict_id.slice(0, 12)), both(one.before), both(one.after)])) : null);
}

function whatIf(name, document) {
  const text = el('textarea', { id: 'rules', class: 'editor', spellcheck: 'false', rows: 16 });
  const result = el('div', { 'aria-live': 'polite' });
  const submit = el('button', { class: 'primary' }, 'Compute');
  text.value = JSON.stringify(document, null, 2);
  const field = (key, label) => el('label', {}, label, el('input', { name: key, autocomplete: 'off', spellcheck: 'false' }));
  const form = el('form', {
    onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      result.replaceChildren(notice('Computing the stored verdicts again …'));
      try {
        const answer = await post(route(['what-if'], { ruleset: name, ...Object.fromEntries(new FormData(form)) }), JSON.parse(text.value));
        result.replaceChildren(changes(answer));
        announce(`${answer.changed} of ${answer.computed} verdicts would change`);
      } catch (error) {
        result.replaceChildren(notice(error instanceof SyntaxError ? `This is not JSON: ${error.message}` : error.message, 'bad'));
      }
      submit.disabled = false;
    },
  },
  el('label', { for: 'rules' }, 'Rules to try. Nothing is stored, and no match is changed.'), text,
  el('div', { class: 'filters' }, field('player', 'Player'), field('match', 'Match'), field('reason', 'Reason'),
    el('label', {}, 'At most', el('input', { name: 'limit', type: 'number', min: 1, max: 5000, value: 1000 })), submit));
  return panel('What would other rules have decided?', form, result);
}

export async function show(view) {
  const name = view.parts[1];
  if (name !== undefined) {
    const answer = await json(route(['rulesets', name]));
    view.main.append(el('h1', {}, name), el('p', { class: 'muted' }, answer.revision ?? ''), whatIf(name, answer.ruleset ?? answer.document ?? answer));
    return;
  }
  const [list, counts, reviews] = await Promise.all([json(route(['rulesets'])), countReasons(), precision()]);
  view.main.append(el('h1', { class: 'hidden' }, 'Rules'), reasonsPanel(counts, reviews), rulesetsPanel(list));
}
