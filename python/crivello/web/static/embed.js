// A search box for the page of another site: <script src="https://SERVER/static/embed.js" defer></script>
// Its server must allow that site: serve.cors. Everything is in a shadow root; nothing is evaluated, and a snippet is
// taken apart into text and marks rather than inserted.
(() => {
  "use strict";
  const script = document.currentScript;
  if (!script) return;
  const server = new URL(script.src).origin;
  const { label = "Search", filter = "", top = "8" } = script.dataset;
  const count = Math.min(20, Math.max(1, parseInt(top, 10) || 8));
  const PAUSE = 150;
  const STYLE = `
    :host { display: block; position: relative; max-width: 32rem; font: inherit; text-align: start; }
    input { box-sizing: border-box; width: 100%; padding: .5em .75em; font: inherit; color: fieldtext; background: field;
      border: 1px solid graytext; border-radius: .5em; }
    input:focus-visible, a:focus-visible { outline: 2px solid highlight; outline-offset: 1px; }
    #panel { position: absolute; inset-inline: 0; z-index: 1000; margin-block-start: .25em; max-height: 70vh; overflow: auto;
      color: canvastext; background: canvas; border: 1px solid graytext; border-radius: .5em; }
    #panel[hidden] { display: none; }
    ol { list-style: none; margin: 0; padding: .25em; }
    a { display: block; padding: .5em .6em; color: inherit; text-decoration: none; border-radius: .4em; }
    a:hover, a:focus { background: color-mix(in srgb, highlight 18%, canvas); }
    strong { display: block; } small { display: block; overflow-wrap: anywhere; }
    mark { background: none; color: inherit; font-weight: 600; text-decoration: underline; }
    p { margin: 0; padding: .5em .85em; font-size: .875em; }`;

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const host = make("div");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const input = make("input", { type: "search", placeholder: label, maxLength: 500, autocomplete: "off" });
  input.setAttribute("aria-label", label);
  const list = make("ol");
  const said = make("p");
  said.setAttribute("role", "status");
  const panel = make("div", { id: "panel", hidden: true }, said, list);
  const form = make("form", { action: `${server}/search` }, input);
  form.setAttribute("role", "search");
  root.append(form, panel);
  script.after(host);

  const safe = (url) => {
    try {
      return ["http:", "https:"].includes(new URL(url).protocol) ? url : null;
    } catch {
      return null;
    }
  };

  const passage = (html) => {
    const parsed = new DOMParser().parseFromString(html, "text/html").body;
    return [...parsed.childNodes].map((node) =>
      node.nodeName === "MARK" ? make("mark", { textContent: node.textContent }) : node.textContent,
    );
  };

  const item = (hit) => {
    const url = safe(hit.url);
    const link = make("a", {}, make("strong", { textContent: hit.title || hit.url }), make("small", {}, ...passage(hit.snippet)));
    if (url) link.href = url;
    return make("li", {}, link);
  };

  const show = (message, hits = []) => {
    said.textContent = message;
    list.replaceChildren(...hits.map(item));
    panel.hidden = !message;
  };

  let timer;
  let running;
  const search = async () => {
    const words = input.value.trim();
    running?.abort();
    if (!words) return show("");
    running = new AbortController();
    const query = new URLSearchParams({ q: filter ? `(${words}) ${filter}` : words, top: count });
    try {
      const response = await fetch(`${server}/api/v1/search?${query}`, { signal: running.signal });
      const answer = await response.json();
      if (!response.ok) return show(answer.detail);
      const pages = answer.matches === 1 ? "1 page" : `${answer.matches.toLocaleString("en")} pages`;
      const instead = answer.corrected ? ` for ${answer.corrected}` : "";
      show(answer.matches ? `${answer.exact ? "" : "more than "}${pages}${instead}` : "No page matches.", answer.hits);
    } catch (error) {
      if (error.name !== "AbortError") show("The search does not answer now.");
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
  root.addEventListener("keydown", (event) => {
    const links = [input, ...list.querySelectorAll("a[href]")];
    const at = links.indexOf(root.activeElement);
    if (event.key === "Escape") {
      show("");
      input.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      links[Math.min(links.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)))].focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.composedPath().includes(host)) panel.hidden = true;
  });
  input.addEventListener("focus", () => {
    if (said.textContent) panel.hidden = false;
  });
})();
