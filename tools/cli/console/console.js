// The script of the console's pages. Without it they reload themselves, and everything else works the same.

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** A duration in its largest unit, from seconds. */
const formatLargest = (seconds) => {
  const rest = Math.round(seconds);
  const [unit, size] = units.find(([, one]) => rest >= one) ?? ['s', 1];
  return `${Math.floor(rest / size)} ${unit}`;
};

const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** Keeps "12 s ago" true. */
const refreshAges = () => {
  for (const time of document.querySelectorAll('main time.ago')) {
    const age = (Date.now() - Date.parse(time.dateTime)) / 1000;
    if (Number.isNaN(age)) continue;
    const text = formatLargest(Math.abs(age));
    const isBare = time.classList.contains('lasts');
    setText(time, isBare ? text : age >= 0 ? `${text} ago` : `in ${text}`);
  }
};

/** Adds the browser's own time to a time in UTC, where it differs. */
const showLocalTimes = () => {
  for (const place of document.querySelectorAll('main .local')) {
    const at = new Date(place.dataset.at);
    if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0) continue;
    const isShort = place.classList.contains('short');
    const time = at.toLocaleTimeString('en-GB', isShort ? { timeStyle: 'short' } : {});
    setText(place, isShort ? ` (${time})` : ` ${time} local`);
  }
};

const badge = document.getElementById('connection');
const content = document.getElementById('content');
const lost = document.getElementById('lost');

const say = (text, isLive) => {
  setText(badge, text);
  badge.classList.toggle('on', isLive);
};

const keyOf = (node) => node.dataset?.key;

/** Whether one node can become the other. A node with a key may change its class, and any other is known by it. */
const isAlike = (one, other) =>
  one.nodeName === other.nodeName &&
  keyOf(one) === keyOf(other) &&
  (keyOf(one) !== undefined || one.getAttribute?.('class') === other.getAttribute?.('class'));

/** The node at `place` or after it that can become `next`. Between texts there is no telling, so none is skipped. */
const findAlike = (place, next) => {
  if (next.nodeType !== Node.ELEMENT_NODE) return place !== null && isAlike(place, next) ? place : undefined;
  for (let node = place; node !== null; node = node.nextSibling) if (isAlike(node, next)) return node;
  return undefined;
};

/** Removes a node, and returns the one after it. */
const removed = (node) => {
  const next = node.nextSibling;
  node.remove();
  return next;
};

/**
 * Changes an element into another, and leaves everything alone that is the same in both. So what somebody types, selects
 * or has focused stays as it is. A node with `data-key` is found again wherever it has moved.
 */
const morph = (from, to) => {
  // Whether a <details> is open is the reader's choice.
  const names = new Set([...from.attributes, ...to.attributes].map(({ name }) => name));
  names.delete('open');
  for (const name of names) {
    const value = to.getAttribute(name);
    if (value === null) from.removeAttribute(name);
    else if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  const keyed = new Map([...from.children].filter(keyOf).map((child) => [keyOf(child), child]));
  const kept = new Set([...to.children].map(keyOf));
  // First, so that those after it need not move: moving an element takes the focus and the selection from it.
  for (const [key, child] of keyed) if (!kept.has(key)) child.remove();
  let place = from.firstChild;
  for (const next of [...to.childNodes]) {
    const known = keyOf(next) === undefined ? findAlike(place, next) : keyed.get(keyOf(next));
    if (known === undefined || !isAlike(known, next)) {
      from.insertBefore(next, place);
      continue;
    }
    // What has gone is removed, and what has a key moves: moving anything else would take the focus from it.
    if (keyOf(next) === undefined) while (place !== known) place = removed(place);
    else if (known !== place) from.insertBefore(known, place);
    place = known.nextSibling;
    if (known.nodeType === Node.ELEMENT_NODE) morph(known, next);
    else if (known.nodeValue !== next.nodeValue) known.nodeValue = next.nodeValue;
  }
  while (place !== null) place = removed(place);
};

/** Tab stops at one period of each chart: the one that had the focus, or the newest. */
const stopAtOnePeriod = () => {
  for (const chart of document.querySelectorAll('.chart')) {
    const periods = [...chart.querySelectorAll('.period')];
    const stop = periods.find((one) => one === document.activeElement) ?? periods.at(-1);
    for (const one of periods) one.setAttribute('tabindex', one === stop ? '0' : '-1');
  }
};

/** What the script adds to a page. */
const complete = () => {
  refreshAges();
  showLocalTimes();
  stopAtOnePeriod();
  for (const source of content.querySelectorAll('[data-copy]:empty')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.id = 'copy';
    button.textContent = 'Copy as text';
    button.addEventListener('click', async () => {
      const answer = await fetch(source.dataset.copy);
      await navigator.clipboard.writeText(await answer.text());
      button.textContent = 'Copied';
    });
    source.replaceChildren(button);
  }
};

const showPage = ({ title, html }) => {
  const next = content.cloneNode(false);
  // The server has escaped every text in it, and the content security policy runs no script of a page.
  next.innerHTML = html;
  const { activeElement } = document;
  morph(content, next);
  if (activeElement !== document.activeElement) activeElement?.focus({ preventScroll: true });
  document.title = document.title.replace(/^[^·]*/, `${title} `);
  complete();
};

let source;
let lastCheck = new Date();

const showLost = (isLost) => {
  if (isLost) setText(document.getElementById('last'), lastCheck.toLocaleTimeString('en-GB'));
  lost.hidden = !isLost;
  content.classList.toggle('stale', isLost);
};

const heard = () => {
  lastCheck = new Date();
  showLost(false);
  say('live', true);
};

const follow = () => {
  const address = badge?.dataset.live ?? '';
  if (address === '' || source !== undefined) return;
  source = new EventSource(address);
  source.addEventListener('page', ({ data }) => {
    heard();
    showPage(JSON.parse(data));
  });
  source.addEventListener('checked', heard);
  source.addEventListener('error', () => {
    say('not connected, trying again', false);
    showLost(true);
    // A browser does not reconnect after an answer that is no stream, such as that of a console that was started again.
    if (source?.readyState !== EventSource.CLOSED) return;
    source = undefined;
    setTimeout(follow, 3_000);
  });
};

const pause = () => {
  if (source === undefined) return;
  source.close();
  source = undefined;
  say('paused while the page is hidden', false);
};

// A page that nobody sees reads nothing from AWS.
document.addEventListener('visibilitychange', () => (document.hidden ? pause() : follow()));
addEventListener('pagehide', pause);
addEventListener('pageshow', () => document.hidden || follow());
/** Moves the focus to the row below or above the one that has it. */
const moveRow = (by) => {
  const rows = [...document.querySelectorAll('#rows tbody th a')];
  const at = rows.findIndex((link) => link.closest('tr').contains(document.activeElement));
  rows[at === -1 ? 0 : Math.min(Math.max(0, at + by), rows.length - 1)]?.focus();
};

/** From one period of a chart to the one beside it. Elsewhere, the key is the browser's. */
const movePeriod = (side) => {
  const next = document.activeElement?.closest('.period')?.[`${side}ElementSibling`];
  if (!next?.matches('.period')) return false;
  next.focus();
  stopAtOnePeriod();
};

// As on GitHub and Gmail. Enter follows the link of the row that has the focus.
const keys = {
  '/': () => document.getElementById('name')?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '?': () => document.getElementById('keys').togglePopover(),
  ArrowLeft: () => movePeriod('previous'),
  ArrowRight: () => movePeriod('next'),
};
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.matches('input, select, textarea');
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  if (keys[event.key]() !== false) event.preventDefault();
});

// The newest is at the right.
for (const place of document.querySelectorAll('.scroll')) place.scrollLeft = place.scrollWidth;
complete();
setInterval(refreshAges, 1_000);
