// The script of the console's pages. Without it they reload themselves, and everything else works the same.

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** A duration in its two largest units, as tools/cli/terminal/format-seconds.ts formats it, but only the largest. */
const formatLargest = (seconds) => {
  const rest = Math.round(seconds);
  const [unit, size] = units.find(([, one]) => rest >= one) ?? ['s', 1];
  return `${Math.floor(rest / size)} ${unit}`;
};

/** Keeps "12 s ago" true. */
const refreshAges = () => {
  for (const time of document.querySelectorAll('main time[datetime]')) {
    const age = (Date.now() - Date.parse(time.dateTime)) / 1000;
    if (Number.isNaN(age)) continue;
    const text = formatLargest(Math.abs(age));
    time.textContent = age >= 0 ? `${text} ago` : `in ${text}`;
  }
};

const status = document.getElementById('connection');
const content = document.getElementById('content');

const say = (text, isLive) => {
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle('on', isLive);
};

/** What somebody types, or has opened, is theirs: a page that is being used is replaced once it is not. */
const isInUse = () => {
  const { activeElement } = document;
  return content.contains(activeElement) && activeElement.matches('input, select, textarea');
};

/** How to find the focused element again in the new page. */
const focusedSelector = () => {
  const { activeElement } = document;
  if (!content.contains(activeElement)) return undefined;
  if (activeElement.id !== '') return `#${CSS.escape(activeElement.id)}`;
  const href = activeElement.getAttribute('href');
  return href === null ? undefined : `a[href="${CSS.escape(href)}"]`;
};

let waiting;

const showPage = ({ title, html }) => {
  const focused = focusedSelector();
  const scrolled = [...content.querySelectorAll('[data-keep-scroll]')].map(({ scrollLeft }) => scrollLeft);
  // The server has escaped every text in it, and the content security policy runs no script of a page.
  content.innerHTML = html;
  for (const [index, element] of content.querySelectorAll('[data-keep-scroll]').entries()) {
    element.scrollLeft = scrolled[index] ?? 0;
  }
  if (focused !== undefined) content.querySelector(focused)?.focus({ preventScroll: true });
  document.title = document.title.replace(/^[^·]*/, `${title} `);
  prepareCopy();
};

const receive = (page) => {
  waiting = undefined;
  if (isInUse()) waiting = page;
  else showPage(page);
};

/** Offers to copy the text of an element. Only with script, so the button is added here. */
const prepareCopy = () => {
  for (const source of content.querySelectorAll('[data-copy]')) {
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

let source;

const follow = () => {
  const address = status?.dataset.live ?? '';
  if (address === '' || source !== undefined) return;
  source = new EventSource(address);
  source.addEventListener('page', ({ data }) => {
    say('live', true);
    receive(JSON.parse(data));
    refreshAges();
  });
  source.addEventListener('checked', () => say('live', true));
  source.addEventListener('error', () => say('not connected, trying again', false));
};

const pause = () => {
  source?.close();
  source = undefined;
};

// A page that nobody sees reads nothing from AWS.
document.addEventListener('visibilitychange', () => (document.hidden ? pause() : follow()));
document.addEventListener('focusout', () => {
  if (waiting === undefined) return;
  setTimeout(() => {
    if (waiting !== undefined && !isInUse()) receive(waiting);
  });
});
addEventListener('pagehide', pause);
// "/" goes to the search field, as on GitHub.
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.matches('input, select, textarea');
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.getElementById('name');
  if (field === null) return;
  event.preventDefault();
  field.focus();
});

prepareCopy();
setInterval(refreshAges, 1_000);
if (!document.hidden) follow();
