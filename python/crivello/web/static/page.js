// Keys for moving through the results, and counts that grow while a crawl runs. The page works without.
"use strict";

const POLL_MILLISECONDS = 5000;

const box = document.getElementById("q");
const links = [...document.querySelectorAll(".results h2 a")];

function isTyping(target) {
  return target.matches("input, textarea, select, [contenteditable]");
}

function step(direction) {
  const current = links.findIndex((link) => link.closest("li").contains(document.activeElement));
  if (current === 0 && direction < 0) {
    box.focus();
    return;
  }
  const next = current < 0 ? 0 : Math.min(current + direction, links.length - 1);
  links[next].focus();
  links[next].closest("li").scrollIntoView({ block: "nearest" });
}

// The arrows scroll, as everywhere, until the focus is in the box or on a result.
function directionOf(event) {
  const onResult = links.includes(event.target);
  if (event.key === "ArrowDown" && (onResult || event.target === box)) return 1;
  if (event.key === "ArrowUp" && onResult) return -1;
  if (isTyping(event.target)) return 0;
  return { j: 1, k: -1 }[event.key] ?? 0;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "/" && box && !isTyping(event.target)) {
    event.preventDefault();
    box.focus();
    box.select();
    return;
  }
  const direction = directionOf(event);
  if (direction !== 0 && links.length > 0) {
    event.preventDefault();
    step(direction);
  }
});

for (const keys of document.querySelectorAll("[data-keys]")) keys.hidden = links.length === 0;

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
