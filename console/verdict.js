// One verdict: why it was given, in a sentence, in numbers and in a picture.

import { connectionLine, everybodyPanel, playerPanel, remarks } from './context.js';
import { address, announce, bar, el, notice, number, panel, quantity, time, withCode } from './dom.js';
import { blob, json, post, route } from './net.js';
import { checkName, decider, labels, reasonName, sentence, verdicts } from './words.js';

export const title = (view) => `Verdict ${view.parts[1].slice(0, 8)}`;

// ---- the head ----

async function download(id) {
  const file = URL.createObjectURL(await blob(route(['verdicts', id])));
  const link = el('a', { href: file, download: `verdict-${id}.stream` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 1000);
}

async function copyLink(button) {
  await navigator.clipboard?.writeText(location.href);
  button.textContent = 'Copied';
  announce('The link to this verdict was copied');
  setTimeout(() => { button.textContent = 'Copy link'; }, 2000);
}

function head(scene, view) {
  const { verdict, times } = scene;
  const copy = el('button', { type: 'button', onclick: () => copyLink(copy) }, 'Copy link');
  const save = el('button', { type: 'button', onclick: () => download(verdict.verdict_id).catch(view.fail) }, 'Download evidence');
  view.keys.set('d', { text: 'Download the evidence', run: () => save.click() });
  view.keys.set('c', { text: 'Copy the link', run: () => copy.click() });
  const player = (name) => el('a', { href: address(['players', name]) }, name);
  return el('header', { class: 'head' },
    el('div', { class: 'grow' },
      el('p', { class: 'kicker' }, el('span', { class: `badge ${verdict.verdict}` }, verdicts[verdict.verdict] ?? verdict.verdict),
        el('b', {}, reasonName(verdict.reason, verdict.kind)), el('code', {}, verdict.reason)),
      el('h1', {}, sentence(scene)),
      el('p', { class: 'muted' }, player(verdict.player), verdict.target ? [' at ', player(verdict.target)] : '',
        verdict.weapon ? `, ${verdict.weapon}` : '',
        ' · match ', el('a', { href: address(['matches', verdict.match]) }, verdict.match),
        ` · ${time(verdict.at, true)}`,
        times ? ` · looked back ${quantity(times.rewound_by ?? times.now - times.hit_time, 'seconds')}` : ` · move received at ${verdict.now} s`),
      scene.context?.player ? el('p', { class: 'connection muted' }, `Connection: ${connectionLine(scene.context.player)}`) : null,
      remarks(scene).map((text) => notice(withCode(text))),
      scene.identical === false
        ? notice('This version of the program gives another answer than the one that was stored.', 'bad') : null),
    el('div', { class: 'actions' }, copy, save));
}

// ---- the checks ----

const outcomes = { pass: 'passed', fail: 'failed', unknown: 'not known' };

/** Whether the limit is a lower bound. Then a smaller value fails, or the check cannot decide. */
function isMinimum(check) {
  return check.outcome === 'pass' ? check.measured > check.limit : check.measured < check.limit;
}

/** A bar of the measured value, with a mark at the limit. */
function gauge(check, kind) {
  const scale = Math.max(Math.abs(check.measured), Math.abs(check.limit)) * 1.15 || 1;
  const meter = bar(Math.abs(check.measured) / scale, kind);
  const mark = el('em');
  mark.style.left = `${(Math.abs(check.limit) / scale) * 100}%`;
  meter.append(mark);
  return meter;
}

function checkRow(check, deciding, unit) {
  const isShadow = check.mode === 'shadow';
  const kind = check.outcome === 'fail' ? (isShadow ? 'shadow' : 'fail') : check.outcome;
  const hasNumber = check.measured !== undefined;
  const who = check.player ?? check.mover;
  return el('li', { class: `check-row ${kind}${check === deciding ? ' deciding' : ''}` },
    el('span', { class: 'mark', 'aria-hidden': 'true' }, { pass: '✓', fail: '✕', shadow: '✕', unknown: '?' }[kind]),
    el('span', { class: 'name' }, checkName(check.check),
      el('span', { class: 'hidden' }, `: ${outcomes[check.outcome] ?? check.outcome}`),
      isShadow ? el('small', {}, 'shadow') : null),
    el('span', { class: 'value num' }, hasNumber ? quantity(check.measured, check.unit, unit) : ''),
    el('span', { class: 'limit num muted' }, hasNumber
      ? `${isMinimum(check) ? 'min' : 'max'} ${quantity(check.limit, check.unit, unit)}` : ''),
    hasNumber ? gauge(check, kind) : el('span', {}),
    check !== deciding && check.outcome !== 'pass' && (check.detail || who)
      ? el('span', { class: 'detail' }, check.detail ?? `with ${who}`) : null);
}

function checksPanel(scene) {
  const { answer } = scene;
  const deciding = decider(answer);
  const rank = (check) => (check === deciding ? 0 : { fail: 1, unknown: 2, pass: 3 }[check.outcome]);
  const sorted = [...(answer.checks ?? [])].sort((a, b) => rank(a) - rank(b));
  const flags = answer.flags ?? [];
  return panel('Checks',
    sorted.length === 0 ? notice('The answer lists no checks.')
      : el('ol', { class: 'checks' }, sorted.map((check) => checkRow(check, deciding, scene.length_unit))),
    flags.length > 0 ? el('p', { class: 'muted' }, `Remarks: ${flags.map((flag) => flag.replaceAll('_', ' ')).join(', ')}`) : null);
}

// ---- the picture and its time ----

/** The recorded frames in order, with the claimed moment (null) in its place. */
function stops(scene) {
  const list = scene.frames.map((frame) => ({ time: frame.time, frame }));
  const at = list.findIndex((stop) => stop.time > scene.times.hit_time);
  list.splice(at < 0 ? list.length : at, 0, { time: scene.times.hit_time, frame: null });
  return list;
}

function timeline(scene, stage, view) {
  const list = stops(scene);
  const home = list.findIndex((stop) => stop.frame === null);
  let timer = null;
  const output = el('output', { class: 'num', for: 'time' });
  const slider = el('input', { type: 'range', id: 'time', min: 0, max: list.length - 1, value: home, 'aria-label': 'Recorded frames' });
  const say = (stop) => {
    const ms = Math.round((stop.time - scene.times.hit_time) * 1000);
    return stop.frame === null ? 'the claimed moment' : `${Math.abs(ms)} ms ${ms < 0 ? 'before' : 'after'} it`;
  };
  const go = (to) => {
    const at = Math.max(0, Math.min(list.length - 1, to));
    slider.value = at;
    slider.setAttribute('aria-valuetext', say(list[at]));
    output.textContent = say(list[at]);
    stage?.showFrame(list[at].frame);
  };
  const play = el('button', { type: 'button', 'aria-pressed': 'false', onclick: () => toggle() }, 'Play');
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    play.textContent = 'Play';
    play.setAttribute('aria-pressed', 'false');
  };
  /** Plays at a quarter of the true speed. After the last frame it starts again. */
  const step = () => {
    const at = (Number(slider.value) + 1) % list.length;
    const wait = at === 0 ? 600 : (list[at].time - list[at - 1].time) * 4000;
    timer = setTimeout(() => {
      go(at);
      step();
    }, Math.max(16, Math.min(600, wait)));
  };
  const toggle = () => {
    if (timer !== null) {
      stop();
      return;
    }
    play.textContent = 'Pause';
    play.setAttribute('aria-pressed', 'true');
    step();
  };
  slider.addEventListener('input', () => {
    stop();
    go(Number(slider.value));
  });
  view.signal.addEventListener('abort', stop);
  view.keys.set(' ', { text: 'Play or pause', run: toggle });
  view.keys.set('ArrowLeft', { text: 'Previous frame', run: () => go(Number(slider.value) - 1) });
  view.keys.set('ArrowRight', { text: 'Next frame', run: () => go(Number(slider.value) + 1) });
  view.keys.set('0', { text: 'The claimed moment', run: () => go(home) });
  go(home);
  return el('div', { class: 'timeline' }, play, slider, output,
    el('button', { type: 'button', class: 'quiet', onclick: () => go(home) }, 'Claimed moment'));
}

function legend(scene) {
  const { verdict, bodies } = scene;
  const has = (role) => bodies.some((one) => one.role === role);
  const entry = (name, text) => el('span', {}, el('i', { class: name }), text);
  return el('p', { class: 'legend muted' },
    has('shooter') ? entry('shooter', `${verdict.player} and their aim`) : null,
    has('target') ? entry('target', `${verdict.target} at the claimed moment`) : null,
    has('target') ? entry('arrival', `${verdict.target} when the claim arrived`) : null,
    has('bystander') ? entry('bystander', 'other players') : null,
    entry('trace', 'shot'),
    scene.shot.closest?.distance > 0 ? entry('miss', 'miss') : null,
    scene.walls?.left_out > 0 ? el('span', {}, `${scene.walls.left_out} further walls are not drawn`) : null);
}

async function picture(scene, view) {
  const { isLeftHanded, setLeftHanded, Stage, views } = await import('./stage.js');
  let stage = null;
  try {
    stage = new Stage(scene, view.signal);
  } catch (error) {
    return panel('Picture', notice(`This browser cannot draw in three dimensions: ${error.message}`, 'bad'));
  }
  const buttons = Object.entries(views).map(([name, text], i) => {
    const button = el('button', { type: 'button', 'data-view': name, 'aria-pressed': String(name === 'orbit'), title: `Key ${i + 1}` }, text);
    button.addEventListener('click', () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      stage.look(name);
    });
    view.keys.set(String(i + 1), { text: `View: ${text}`, run: () => button.click() });
    return button;
  });
  const isLeft = isLeftHanded(scene.ruleset);
  const hand = el('button', { type: 'button', class: 'quiet', 'aria-pressed': String(isLeft),
    title: 'Games such as Unity and Unreal have left-handed axes. With the wrong choice, left and right are exchanged.',
    onclick: () => {
      setLeftHanded(scene.ruleset, !isLeft);
      view.reload();
    } }, 'Left-handed axes');
  return el('section', { class: 'panel picture', 'aria-label': 'Picture' },
    el('div', { class: 'row' }, el('h2', {}, 'Picture'), el('span', { class: 'grow' }), hand,
      el('div', { class: 'group', role: 'group', 'aria-label': 'View' }, buttons)),
    stage.element, timeline(scene, stage, view), legend(scene));
}

// ---- reviews ----

function reviewList(reviews) {
  if (reviews.length === 0) return el('p', { class: 'muted' }, 'Nobody has reviewed this verdict yet.');
  return el('ul', { class: 'reviews' }, reviews.map((review) => el('li', {},
    el('b', {}, labels[review.label] ?? review.label), review.by ? ` by ${review.by}` : '',
    review.at ? el('span', { class: 'muted' }, ` ${time(review.at)}`) : '',
    review.note ? el('p', {}, review.note) : null)));
}

function reviewPanel(view) {
  const id = view.parts[1];
  const list = el('div', { class: 'reviewed' });
  const status = el('p', { role: 'status' });
  const note = el('textarea', { id: 'note', name: 'note', rows: 2, maxlength: 1000 });
  const buttons = Object.entries(labels).map(([value, text]) => el('label', { class: 'pick' },
    el('input', { type: 'radio', name: 'label', value, required: true }), text));
  const load = async () => {
    const answer = await json(route(['verdicts', id, 'reviews']));
    list.replaceChildren(reviewList(answer.reviews ?? []));
  };
  const form = el('form', {
    onsubmit: async (event) => {
      event.preventDefault();
      const review = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
      try {
        await post(route(['verdicts', id, 'reviews']), review);
        localStorage.setItem('hindsight-by', review.by ?? '');
        note.value = '';
        status.textContent = 'Saved.';
        await load();
      } catch (error) {
        status.textContent = error.message;
      }
    },
  },
  el('fieldset', {}, el('legend', {}, 'What was it?'), buttons),
  el('label', { for: 'note' }, 'Note'), note,
  el('div', { class: 'row' },
    el('label', {}, 'Your name', el('input', { name: 'by', maxlength: 64, autocomplete: 'off', value: localStorage.getItem('hindsight-by') ?? '' })),
    el('button', { class: 'primary' }, 'Save'), status));
  view.keys.set('r', { text: 'Review', run: () => form.querySelector('input').focus() });
  const box = panel('Review', list, form);
  load().catch((error) => {
    if (error.status === 404) box.hidden = true;
    else status.textContent = error.message;
  });
  return box;
}

// ---- facts ----

function posted(scene) {
  return [
    el('details', {}, el('summary', {}, `The ${scene.kind === 'move' ? 'move' : 'claim'} as posted`),
      el('pre', { tabindex: '0' }, JSON.stringify(scene.request, null, 2))),
    el('details', {}, el('summary', {}, 'The answer'), el('pre', { tabindex: '0' }, JSON.stringify(scene.answer, null, 2))),
  ];
}

/** A time of the match, to the millisecond. */
const seconds = (time) => `${time.toFixed(3)} s`;

function moveFacts(scene) {
  const { verdict, answer } = scene;
  const rows = [
    ['Verdict id', verdict.verdict_id], ['Account', verdict.account ?? '–'], ['Number', String(answer.seq ?? '–')],
    ['Time of the client', `${seconds(scene.request.client_time)} of their clock`], ['Received', `${seconds(verdict.now)} of the match`],
    ['Simulated for', quantity(answer.delta_time, 'seconds')],
    ['Ahead of the server', quantity(answer.timing.discrepancy, 'seconds')],
    ['Ruleset', `${verdict.ruleset}, ${verdict.revision.slice(0, 19)}`],
  ];
  return panel('Facts',
    el('dl', { class: 'facts' }, rows.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])), posted(scene));
}

function facts(scene) {
  const { verdict, times, shot } = scene;
  const place = (point) => (point ? point.map((value) => number(value)).join(', ') : '–');
  const rows = [
    ['Verdict id', verdict.verdict_id], ['Shot', String(scene.request.shot ?? '–')], ['Account', verdict.account ?? '–'],
    ['Claimed moment', `${seconds(times.hit_time)} of the match`], ['Arrival', `${seconds(times.now)} of the match`],
    ['Start', place(shot.start)], ['End', place(shot.end)], ['Radius', quantity(shot.radius, 'length', scene.length_unit)],
    ['Ruleset', `${scene.ruleset.name}, ${scene.ruleset.revision.slice(0, 19)}`],
    ['Map', scene.map ? `${scene.map.name}, ${scene.map.revision.slice(0, 19)}` : 'none'],
  ];
  return panel('Facts',
    el('dl', { class: 'facts' }, rows.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    posted(scene));
}

export async function show(view) {
  const scene = await json(route(['verdicts', view.parts[1], 'scene']));
  if (view.signal.aborted) return;
  view.keys.set('b', { text: 'Back to the list', run: () => history.back() });
  const known = [playerPanel(scene), everybodyPanel(scene)].filter(Boolean);
  if (scene.kind === 'move') {
    view.main.append(head(scene, view), el('div', { class: 'columns even' }, checksPanel(scene), moveFacts(scene)),
      ...known, reviewPanel(view));
    return;
  }
  const charts = el('div', { class: 'charts' });
  const drawn = await picture(scene, view);
  if (view.signal.aborted) return;
  view.main.append(head(scene, view),
    el('div', { class: 'columns' }, drawn, checksPanel(scene)),
    panel('Around the claimed moment', el('p', { class: 'muted' },
      'Dashed lines: the claimed moment (0 s) and the arrival of the claim. Red lines: limits of the ruleset.'), charts),
    ...known,
    el('div', { class: 'columns even' }, reviewPanel(view), facts(scene)));
  const { drawCharts } = await import('./charts.js');
  if (!view.signal.aborted) drawCharts(scene, charts, view.signal);
}
