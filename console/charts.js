// Small charts of the seconds around the claimed moment.

import './chart.min.js';
import { color, el, number } from './dom.js';

const { Chart } = globalThis;

/** Draws vertical lines at the claimed moment and at the arrival of the claim. */
const marks = {
  id: 'marks',
  afterDatasetsDraw(chart, args, options) {
    const { ctx, chartArea: area, scales: { x } } = chart;
    for (const { at, name } of options.lines ?? []) {
      if (at < x.min || at > x.max) continue;
      const place = x.getPixelForValue(at);
      ctx.save();
      ctx.strokeStyle = color(name);
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(place, area.top);
      ctx.lineTo(place, area.bottom);
      ctx.stroke();
      ctx.restore();
    }
    const { y } = chart.scales;
    for (const limit of options.limits ?? []) {
      if (limit < y.min || limit > y.max) continue;
      ctx.save();
      ctx.strokeStyle = color('--miss');
      ctx.beginPath();
      ctx.moveTo(area.left, y.getPixelForValue(limit));
      ctx.lineTo(area.right, y.getPixelForValue(limit));
      ctx.stroke();
      ctx.restore();
    }
  },
};

const titles = {
  speed: ['Speed', 'per second', 'How fast they moved from frame to frame'],
  rtt: ['Round trip', 'ms', 'Latency as the game server reported it'],
  offset: ['Time offset', 'ms', 'How far claimed moments are from what the latency explains'],
  cadence: ['Cadence', 'ms', 'Time since the previous shot or claim'],
  credit: ['Time credit', 'ms', 'Server time that the client has not used yet'],
};

function sets(scene, name) {
  const scale = titles[name][1] === 'ms' ? 1000 : 1;
  const zero = scene.times.hit_time;
  const paint = { shooter: '--shooter', target: '--target' };
  return scene.charts.filter((one) => one[name]?.length > 0).map((one) => ({
    label: one.player,
    data: one[name].map(([t, value]) => ({ x: t - zero, y: value * scale })),
    borderColor: color(paint[one.role]),
    backgroundColor: color(paint[one.role]),
    borderWidth: 1.5,
    pointRadius: one[name].length < 12 || name === 'offset' || name === 'cadence' ? 2.5 : 0,
    showLine: name !== 'offset' && name !== 'cadence',
    stepped: name === 'rtt',
    tension: 0,
  }));
}

/** The limits of a chart, in its unit. */
function limitsOf(scene, name) {
  const scale = titles[name][1] === 'ms' ? 1000 : 1;
  return [scene.limits?.[name] ?? []].flat().map((value) => value * scale);
}

/** Describes the chart for readers who cannot see it. */
function summary(datasets, unit) {
  return datasets.map(({ label, data }) => {
    const values = data.map((point) => point.y);
    return `${label}: ${number(Math.min(...values))} to ${number(Math.max(...values))} ${unit}`;
  }).join('; ');
}

function figure(scene, name) {
  const [title, wanted, meaning] = titles[name];
  const unit = wanted === 'per second' ? `${scene.length_unit ?? 'units'}/s` : wanted;
  const datasets = sets(scene, name);
  const heading = el('figcaption', { title: meaning }, el('b', {}, title), el('span', { class: 'muted' }, ` ${unit}`));
  if (datasets.length === 0) return { element: el('figure', { class: 'chart' }, heading, el('p', { class: 'none' }, 'Nothing recorded')) };
  const limits = limitsOf(scene, name);
  const allowed = limits.length > 0 ? `. Limit: ${limits.map((value) => `${number(value)} ${unit}`).join(' and ')}` : '';
  const canvas = el('canvas', { role: 'img', 'aria-label': `${title}. ${meaning}. ${summary(datasets, unit)}${allowed}` });
  return { element: el('figure', { class: 'chart' }, heading, el('div', { class: 'plot' }, canvas)), canvas, datasets };
}

/** Fills `place` with the charts of a scene, and frees them when `signal` ends. */
export function drawCharts(scene, place, signal) {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 11;
  Chart.defaults.color = color('--muted');
  const lines = [{ at: 0, name: '--accent' }, { at: scene.times.now - scene.times.hit_time, name: '--muted' }];
  const times = scene.frames.map((frame) => frame.time - scene.times.hit_time);
  const range = times.length > 1 ? { min: Math.min(...times, -0.05), max: Math.max(...times, lines[1].at) } : {};
  for (const name of Object.keys(titles)) {
    const { element, canvas, datasets } = figure(scene, name);
    place.append(element);
    if (canvas === undefined) continue;
    const own = name === 'speed' ? range : {};
    const limits = limitsOf(scene, name);
    const chart = new Chart(canvas, {
      type: 'line',
      data: { datasets },
      plugins: [marks],
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: 'nearest', intersect: false },
        plugins: {
          legend: { display: false },
          marks: { lines, limits },
          tooltip: { callbacks: {
            title: ([item]) => `${number(item.parsed.x)} s`,
            label: (item) => `${item.dataset.label}: ${number(item.parsed.y)}`,
          } },
        },
        scales: {
          x: { type: 'linear', ...own, grid: { color: color('--line'), drawTicks: false }, border: { display: false },
            ticks: { maxTicksLimit: 5, maxRotation: 0, includeBounds: false, callback: (value) => `${number(value)} s` } },
          y: { beginAtZero: true, suggestedMin: Math.min(0, ...limits), suggestedMax: Math.max(0, ...limits) * 1.1, grid: { color: color('--line'), drawTicks: false },
            ticks: { maxTicksLimit: 4, callback: (value) => number(value) } },
        },
      },
    });
    signal.addEventListener('abort', () => chart.destroy());
  }
}

/** A bar chart of counts or shares, one bar for each name. */
export function drawBars(canvas, names, datasets, signal) {
  Chart.defaults.color = color('--muted');
  Chart.defaults.font.size = 11;
  const chart = new Chart(canvas, {
    type: 'bar',
    data: { labels: names, datasets },
    options: {
      animation: false,
      indexAxis: 'y',
      maintainAspectRatio: false,
      plugins: { legend: { display: datasets.length > 1, position: 'bottom', labels: { boxWidth: 10 } } },
      scales: { x: { beginAtZero: true, grid: { color: color('--line') } }, y: { grid: { display: false } } },
    },
  });
  signal.addEventListener('abort', () => chart.destroy());
}
