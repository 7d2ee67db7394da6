// The shell of the console: which page is shown, the token, and the keys that work on every page.

import { announce, el, notice } from './dom.js';
import { Refused, token } from './net.js';

// A page is loaded when it is first shown. Each exports show(view): view.parts and view.filters come
// from the address, view.main is where to draw, view.signal ends when the reader leaves the page,
// view.keys maps keys to functions.
const pages = {
  verdicts: () => import('./list.js'),
  verdict: () => import('./verdict.js'),
  players: () => import('./players.js'),
  matches: () => import('./matches.js'),
  rulesets: () => import('./rulesets.js'),
  health: () => import('./health.js'),
};

const main = document.getElementById('main');
let current = { keys: new Map(), controller: new AbortController(), path: '' };

function read() {
  const [path, query = ''] = (location.hash.slice(2) || 'verdicts').split('?');
  return { parts: path.split('/').map(decodeURIComponent), filters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Asks for a token, and shows the page again with it. */
function askForToken(refusal) {
  const input = el('input', { type: 'password', id: 'token', autocomplete: 'off', required: true, class: 'wide' });
  const form = el('form', {
    class: 'panel narrow',
    onsubmit: (event) => {
      event.preventDefault();
      token.set(input.value.trim());
      show();
    },
  },
  el('h1', {}, 'Token needed'),
  el('p', {}, refusal.status === 401
    ? 'This service needs a token with the scope “evidence”.'
    : 'This token may not read this page. Enter a token with the scope “evidence”.'),
  token.get() ? notice(refusal.message, 'bad') : null,
  el('label', { for: 'token' }, 'Token'), input,
  el('p', { class: 'muted' }, 'It stays in this tab and is forgotten when the tab closes.'),
  el('button', { class: 'primary' }, 'Continue'));
  main.replaceChildren(form);
  input.focus();
}

function fail(error) {
  if (error.name === 'AbortError') return;
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) askForToken(error);
  else main.replaceChildren(notice(error.message, 'bad'));
  if (!(error instanceof Refused)) console.error(error);
}

async function show() {
  const address = read();
  const isVerdict = address.parts[0] === 'verdicts' && address.parts.length > 1;
  const name = isVerdict ? 'verdict' : address.parts[0];
  current.controller.abort();
  const controller = new AbortController();
  const view = { ...address, main, signal: controller.signal, keys: new Map(), fail, reload: show };
  current = { keys: view.keys, controller };
  for (const link of document.querySelectorAll('.bar nav a')) {
    if (link.getAttribute('href') === `#/${address.parts[0]}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.getElementById('sign-out').hidden = token.get() === null;
  const load = pages[name];
  if (load === undefined) {
    main.replaceChildren(notice('There is no such page.', 'bad'));
    return;
  }
  try {
    const page = await load();
    if (controller.signal.aborted) return;
    main.replaceChildren();
    main.className = name;
    document.title = `${page.title(view)} · Hindsight`;
    await page.show(view);
    announce(`${page.title(view)} is shown`);
  } catch (error) {
    if (!controller.signal.aborted) fail(error);
  }
}

// ---- keys ----

const common = [
  ['g v', 'Verdicts'], ['g p', 'Players'], ['g m', 'Matches'], ['g r', 'Rules'], ['g h', 'Health'],
  ['?', 'All keys of the page'],
];
const places = { v: 'verdicts', p: 'players', m: 'matches', r: 'rulesets', h: 'health' };
let isGoing = false;

function help() {
  const own = [...current.keys].map(([key, action]) => [key, action.text]);
  const spell = { ArrowLeft: '←', ArrowRight: '→', ' ': 'Space' };
  const rows = [...own, ...common].map(([key, text]) => [
    el('dt', {}, el('kbd', {}, spell[key] ?? key)), el('dd', {}, text)]);
  const dialog = el('dialog', { 'aria-label': 'Keyboard shortcuts', onclose: () => dialog.remove() },
    el('h2', {}, 'Keys'), el('dl', { class: 'keys' }, rows),
    el('form', { method: 'dialog' }, el('button', { class: 'primary', autofocus: true }, 'Close')));
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, select, textarea, dialog') !== null;
  if (event.key === 'Escape' && isTyping && !event.target.closest('dialog')) event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = isGoing && places[event.key] ? { run: () => { location.hash = `#/${places[event.key]}`; } }
    : event.key === '?' ? { run: help } : current.keys.get(event.key);
  isGoing = event.key === 'g';
  // Space presses the button that has the focus.
  if (action === undefined || (event.key === ' ' && event.target.closest('button, summary, a') !== null)) return;
  event.preventDefault();
  action.run();
});

document.getElementById('keys').addEventListener('click', help);
document.getElementById('sign-out').addEventListener('click', () => {
  token.forget();
  show();
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', async () => {
  // A changed filter shows the page again. The focus returns to the field that the reader was in.
  const { name } = document.activeElement;
  await show();
  const again = name ? main.querySelector(`[name="${CSS.escape(name)}"]`) : null;
  (again ?? main).focus({ preventScroll: true });
  if (again === null) scrollTo(0, 0);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
show();
