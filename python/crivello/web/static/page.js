// Completions while one types, keys for moving through the results, a switch for the theme, and counts that grow while
// a crawl runs. The page works without.
"use strict";

const POLL_MILLISECONDS = 5000;
const TYPING_MILLISECONDS = 80;

const box = document.getElementById("q");
const titles = [...document.querySelectorAll(".results :is(h2, h3) a")];

function kept(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {}
  return null;
}

// Completions: the combobox pattern of ARIA 1.2. The focus stays in the box; the list has an active option.

function makeCombobox() {
  const list = document.createElement("ul");
  const said = document.createElement("p");
  list.id = "completions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions");
  list.hidden = true;
  said.className = "unseen";
  said.setAttribute("role", "status");
  box.form.append(list, said);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false",
  })) box.setAttribute(name, value);

  let typed = box.value;
  let active = -1;
  let asked = null;
  let waiting = 0;

  function close() {
    clearTimeout(waiting);
    asked?.abort();
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    said.textContent = "";
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function activate(place) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = place;
    const option = list.children[active];
    box.value = option ? option.textContent : typed;
    if (!option) return box.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option.id);
  }

  function show(completions) {
    active = -1;
    box.removeAttribute("aria-activedescendant");
    list.replaceChildren(...completions.map((text, place) => {
      const option = document.createElement("li");
      option.id = `completion-${place}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const start = text.toLowerCase().startsWith(typed.toLowerCase()) ? typed.length : 0;
      const rest = document.createElement(start ? "b" : "span");
      rest.textContent = text.slice(start);
      option.append(text.slice(0, start), rest);
      return option;
    }));
    list.hidden = completions.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    said.textContent = list.hidden ? "" : `${completions.length} completions`;
  }

  async function ask() {
    asked?.abort();
    asked = new AbortController();
    const prefix = typed.trim();
    if (!prefix) return close();
    const response = await fetch(`/complete?q=${encodeURIComponent(prefix)}`, { signal: asked.signal });
    if (!response.ok) return close();
    const [, completions] = await response.json();
    if (document.activeElement === box) show(completions.filter((text) => text !== prefix));
  }

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(waiting);
    // An aborted request was for what is no longer typed.
    waiting = setTimeout(() => ask().catch(() => {}), TYPING_MILLISECONDS);
  });
  box.addEventListener("blur", close);
  box.form.addEventListener("submit", close);
  // Before the box loses the focus, which closes the list.
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const option = event.target.closest("li");
    if (!option) return;
    box.value = option.textContent;
    box.form.requestSubmit();
  });

  // Whether the key was for the list.
  return (event) => {
    if (list.hidden || event.target !== box) return false;
    const count = list.children.length;
    const places = { ArrowDown: active + 1 < count ? active + 1 : -1, ArrowUp: active < 0 ? count - 1 : active - 1 };
    if (event.key in places) activate(places[event.key]);
    else if (event.key === "Escape") {
      activate(-1);
      close();
    } else return false;
    event.preventDefault();
    return true;
  };
}

const ofList = box ? makeCombobox() : () => false;

// Keys

const keys = document.getElementById("keys");
const keysOff = document.querySelector("[data-keys-off]");

function isTyping(target) {
  return target.matches("input, textarea, select, [contenteditable]");
}

function step(direction) {
  const links = titles.filter((link) => link.checkVisibility());
  const current = links.indexOf(document.activeElement);
  if (current === 0 && direction < 0) {
    box.focus();
    return;
  }
  const next = current < 0 ? 0 : Math.min(current + direction, links.length - 1);
  links[next].focus();
  links[next].parentElement.parentElement.scrollIntoView({ block: "nearest" });
}

const LETTERS = {
  "/": () => {
    box?.focus();
    box?.select();
  },
  "?": () => keys?.showModal(),
  j: () => titles.length && step(1),
  k: () => titles.length && step(-1),
  n: () => document.querySelector("a[rel=next]")?.click(),
  p: () => document.querySelector("a[rel=prev]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys?.open) return;
  if (ofList(event)) return;
  // The arrows scroll, as everywhere, unless the focus is in the box or on a result.
  const onResult = titles.includes(event.target);
  const arrow = { ArrowDown: onResult || event.target === box ? 1 : 0, ArrowUp: onResult ? -1 : 0 }[event.key];
  if (arrow && titles.length) {
    event.preventDefault();
    step(arrow);
  } else if (LETTERS[event.key] && !isTyping(event.target) && !keysOff?.checked) {
    event.preventDefault();
    LETTERS[event.key]();
  }
});

if (keys) {
  const opener = document.querySelector("[data-keys]");
  opener.hidden = false;
  opener.addEventListener("click", () => keys.showModal());
  keysOff.checked = kept("keys") === "off";
  keysOff.addEventListener("change", () => kept("keys", keysOff.checked ? "off" : null));
}

// Theme: automatic, light, dark, and around again

const THEMES = { "": "automatic", light: "light", dark: "dark" };

for (const button of document.querySelectorAll("[data-theme-switch]")) {
  const root = document.documentElement;
  const tell = () => {
    const name = THEMES[root.dataset.theme ?? ""];
    button.querySelector("[data-theme-name]").textContent = name;
    button.title = `Theme: ${name}`;
  };
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(root.dataset.theme ?? "") + 1) % names.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    kept("theme", next || null);
    tell();
  });
  button.hidden = false;
  tell();
}

// Progress of a crawl

const crawling = document.querySelector("[data-crawling]");

async function showProgress() {
  if (document.hidden) return;
  const response = await fetch("/api/status");
  if (!response.ok) return;
  const status = await response.json();
  for (const place of document.querySelectorAll("[data-count]")) {
    const unit = place.dataset.count;
    const number = status[unit];
    place.textContent = `${number.toLocaleString("en")} ${number === 1 ? unit.slice(0, -1) : unit}`;
  }
  if (status.state !== "crawling") {
    crawling.hidden = true;
    clearInterval(polling);
  }
}

// A server that has gone away is not worth a message: the next search will tell.
const polling = crawling && setInterval(() => showProgress().catch(() => {}), POLL_MILLISECONDS);
