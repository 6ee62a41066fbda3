// Keeps the dashboard live by server-sent events, and draws its plots. The page has all its numbers without it.
"use strict";

const COLUMNS = { time: 0, pages: 1, bytes: 2, requests: 3, errors: 4, waiting: 5, active: 6, memory: 7 };
const MOST_SAMPLES = 300;
const HEIGHT = 120;
const [TOP, BOTTOM, LEFT] = [12, 18, 0];
const SVG = "http://www.w3.org/2000/svg";

const bar = document.querySelector(".bar");
const lost = document.querySelector("[data-lost]");
const ranges = [...document.querySelectorAll("[data-range]")];
const data = { live: [], all: [] };
let range = "live";
let chosen = null; // the index of the sample under the pointer

/* Numbers, as the server writes them. */

function count(value) {
  return value < 10 && value % 1 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}

function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (value >= 1000 && place < units.length - 1) {
    value /= 1024;
    place += 1;
  }
  return `${place ? value.toFixed(1) : Math.round(value)} ${units[place]}`;
}

function duration(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const UNITS = {
  rate: (value) => `${count(value)}/s`,
  bytes,
  count,
};

/* Plots */

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

// The growth per second between neighbours; the level itself for what is no counter.
function valuesOf(name, samples) {
  const place = COLUMNS[name];
  if (name !== "pages" && name !== "bytes") return samples.map((sample) => sample[place]);
  return samples.map((sample, index) => {
    const before = samples[Math.max(0, index - 1)];
    const seconds = sample[0] - before[0];
    return seconds > 0 ? Math.max(0, sample[place] - before[place]) / seconds : NaN;
  });
}

class Plot {
  constructor(figure) {
    this.figure = figure;
    this.name = figure.dataset.plot;
    this.title = figure.querySelector("figcaption span").textContent;
    this.canvas = figure.querySelector(".canvas");
    this.output = figure.querySelector("output");
    const perSecond = this.name === "bytes" ? "/s" : "";
    this.format = (value) => UNITS[figure.dataset.unit](value) + perSecond;
    this.canvas.addEventListener("pointermove", (event) => choose(this.nearest(event)));
    this.canvas.addEventListener("pointerleave", () => choose(null));
    this.canvas.addEventListener("blur", () => choose(null));
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.values.length) return;
      event.preventDefault();
      const last = this.values.length - 1;
      choose(Math.min(last, Math.max(0, (chosen ?? last + 1) + step)));
    });
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = (event.clientX - box.left - LEFT) / (box.width - LEFT);
    const time = this.from + place * (this.to - this.from);
    let best = null;
    this.times.forEach((each, index) => {
      if (best === null || Math.abs(each - time) < Math.abs(this.times[best] - time)) best = index;
    });
    return best;
  }

  draw() {
    const samples = data[range];
    this.figure.hidden = this.name === "memory" && range === "all";
    this.times = samples.map((sample) => sample[0]);
    this.values = valuesOf(this.name, samples);
    this.from = this.times[0] ?? 0;
    this.to = Math.max(this.from + 1, this.times.at(-1) ?? 1);
    const width = this.canvas.clientWidth || 320;
    const known = this.values.filter(Number.isFinite);
    const most = Math.max(1, ...known);
    this.x = (time) => LEFT + ((width - LEFT) * (time - this.from)) / (this.to - this.from);
    this.y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / most;

    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const value of [0, most]) {
      element("line", { class: "grid", x1: LEFT, x2: width, y1: this.y(value), y2: this.y(value) }, svg);
    }
    const points = this.values
      .map((value, index) => [this.x(this.times[index]), this.y(value), value])
      .filter((point) => Number.isFinite(point[2]))
      .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
    if (points.length > 1) {
      const ends = [points[0].split(",")[0], points.at(-1).split(",")[0]];
      const base = this.y(0);
      element("path", { class: "area", d: `M${ends[0]},${base} L${points.join(" ")} L${ends[1]},${base} Z` }, svg);
      element("polyline", { class: "line", points: points.join(" ") }, svg);
    }
    element("text", { x: LEFT + 2, y: this.y(most) - 3 }, svg).textContent = this.format(most);
    element("text", { x: LEFT + 2, y: HEIGHT - 4 }, svg).textContent =
      range === "live" ? `−${duration(this.to - this.from)}` : "start";
    const end = element("text", { x: width - 2, y: HEIGHT - 4, "text-anchor": "end" }, svg);
    end.textContent = range === "live" ? "now" : `${duration(this.to)} of crawling`;
    this.cross = element("line", { class: "cross", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" }, svg);
    this.dot = element("circle", { class: "dot", r: 3.5, visibility: "hidden" }, svg);
    this.canvas.replaceChildren(svg);
    this.point();
    const now = known.at(-1);
    const said = now === undefined ? "no value yet" : `${this.format(now)} now, at most ${this.format(most)}`;
    this.canvas.setAttribute("aria-label", `${this.title}: ${said}`);
  }

  // The value under the pointer, or the newest.
  point() {
    const index = chosen ?? this.values.length - 1;
    const value = this.values[index];
    const isShown = chosen !== null && Number.isFinite(value);
    for (const mark of [this.cross, this.dot]) mark.setAttribute("visibility", isShown ? "visible" : "hidden");
    if (!Number.isFinite(value)) {
      this.output.textContent = "";
      return;
    }
    const time = this.times[index];
    if (isShown) {
      const x = this.x(time);
      this.cross.setAttribute("x1", x);
      this.cross.setAttribute("x2", x);
      this.dot.setAttribute("cx", x);
      this.dot.setAttribute("cy", this.y(value));
    }
    const when = range === "live" ? `${new Date(time * 1000).toISOString().slice(11, 19)} UTC` : `after ${duration(time)}`;
    this.output.textContent = isShown ? `${when}: ${this.format(value)}` : this.format(value);
  }
}

const plots = [...document.querySelectorAll("[data-plot]")].map((figure) => new Plot(figure));

function choose(index) {
  chosen = index;
  for (const plot of plots) plot.point();
}

function draw() {
  document.querySelector("[data-plots]").hidden = data.live.length < 2 && data.all.length < 2;
  if (chosen !== null && chosen >= data[range].length) chosen = null;
  for (const plot of plots) plot.draw();
}

function show(which) {
  range = which;
  chosen = null;
  for (const button of ranges) button.setAttribute("aria-pressed", String(button.dataset.range === which));
  draw();
}

for (const button of ranges) {
  button.addEventListener("click", () => {
    button.dataset.asked = "";
    show(button.dataset.range);
  });
}
new ResizeObserver(draw).observe(document.querySelector("main"));

/* Live */

let source = null;

function take(message) {
  for (const [name, html] of Object.entries(message.parts ?? {})) {
    const place = document.querySelector(`[data-part="${name}"]`);
    if (place) place.innerHTML = html; // rendered and escaped by the server
  }
  if (message.state) bar.dataset.state = message.state;
  if (message.title) document.title = `${message.title} · ${document.title.split(" · ").at(-1)}`;
  if (message.samples) {
    const newest = data.live.at(-1)?.[0] ?? 0;
    const more = message.samples.filter((sample) => sample[0] > newest);
    data.live = [...data.live, ...more].slice(-MOST_SAMPLES);
  }
  if (message.history) data.all = message.history;
  const isAsked = ranges.some((button) => "asked" in button.dataset);
  if (!isAsked) {
    const which = data.live.length < 2 && data.all.length > 1 ? "all" : "live";
    if (which !== range) show(which);
  }
  if (message.samples || message.history) draw();
}

function listen() {
  source = new EventSource("/crawl/events");
  source.onmessage = (event) => {
    lost.hidden = true;
    take(JSON.parse(event.data));
  };
  source.onerror = () => {
    lost.hidden = false;
    // A refusal is final for the browser, and may be no more after a restart.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

// A page that nobody sees costs nothing.
document.addEventListener("visibilitychange", () => {
  source?.close();
  if (!document.hidden) listen();
});
window.addEventListener("pagehide", () => source?.close());
if (!document.hidden) listen();
