// Builds elements and formats numbers. Texts become text nodes, so a player's name is never markup.

/** Makes an element. `attributes` may have listeners (onclick), `class`, and true or false. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A link to a page of the console: the parts of its path, and its filters. */
export function address(parts, filters = {}) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  const path = parts.map(encodeURIComponent).join('/');
  return `#/${path}${[...query].length > 0 ? `?${query}` : ''}`;
}

/** Sends a sentence to screen readers. */
export function announce(sentence) {
  document.getElementById('announce').textContent = sentence;
}

/** A number with three significant digits, and at most three digits after the point. */
export function number(value) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.0005) return '≈ 0';
  if (size >= 1e7) return value.toExponential(1);
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(size < 1 ? value.toFixed(3) : value.toPrecision(3)));
}

export function count(value) {
  return Number(value ?? 0).toLocaleString('en');
}

const units = { seconds: 's', degrees: '°', count: '', none: '' };

/** A measured value with its unit. `length` is the unit of lengths of the ruleset, if it is known. */
export function quantity(value, unit, length) {
  if (unit === 'seconds' && Math.abs(value) < 1) return `${number(value * 1000)} ms`;
  const name = unit === 'length' ? length ?? 'units'
    : unit === 'length_per_second' ? `${length ?? 'units'}/s`
      : unit === 'length_per_second_squared' ? `${length ?? 'units'}/s²` : units[unit] ?? unit ?? '';
  const space = name === '' || name === '°' ? '' : ' ';
  return `${number(value)}${space}${name}`;
}

/** The unit of length of a built-in ruleset. Other rulesets do not name their unit. */
export function lengthUnit(ruleset) {
  return { metres: 'm', unity: 'm', godot: 'm', centimetres: 'cm', unreal: 'cm', inches: 'in', source: 'in' }[ruleset];
}

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});
const day = new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' });

/** The wall clock in the time zone of the browser. It has the day only if the day is not today. */
export function time(seconds, always = false) {
  const date = new Date(seconds * 1000);
  const today = day.format(new Date()) === day.format(date);
  return today && !always ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

/** A value of the style sheet, such as "--accent". */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A line that says that something is loading, missing or wrong. */
export function notice(text, kind = 'note') {
  return el('p', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : null }, text);
}

/** A text of the service. The parts between backticks become code elements. */
export function withCode(text) {
  return text.split('`').map((part, i) => (i % 2 === 1 ? el('code', {}, part) : part));
}

/** A titled box of a page. */
export function panel(title, ...children) {
  return el('section', { class: 'panel', 'aria-label': title }, el('h2', {}, title), ...children);
}

/** A table: `columns` are texts or [text, class]; `rows` are arrays of texts or nodes. */
export function table(label, columns, rows) {
  const classes = columns.map((column) => (Array.isArray(column) ? column[1] : null));
  const cell = (value, i) => el('td', { class: classes[i] }, value ?? '');
  return el('table', { 'aria-label': label },
    el('thead', {}, el('tr', {}, columns.map((column, i) => el('th', { scope: 'col', class: classes[i] },
      Array.isArray(column) ? column[0] : column)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, row.map(cell)))));
}

/** A bar that is filled to a share of its width, 0 to 1. Screen readers skip it, because its number stands beside it. */
export function bar(share, kind = '') {
  const fill = el('i', { class: kind });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el('span', { class: 'bar-share', 'aria-hidden': 'true' }, fill);
}
