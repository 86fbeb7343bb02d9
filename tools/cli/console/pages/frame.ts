import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';
import { icon, iconSprite } from './icons-and-badges.ts';
import type { Links } from './page-content-and-links.ts';

export type Frame = {
  readonly stage: string;
  readonly links: Links;
  readonly hasSandbox: boolean;
  readonly isReadOnly: boolean;
};

type FramedPage = {
  readonly title: string;
  readonly body: Html;
  readonly now: Date;
  /** The page's own path and query, without the secret. Absent for a page that does not change by itself. */
  readonly live?: string | undefined;
};

/** Without script, a page reloads itself so often. */
const reloadSeconds = 10;

const navigation = ({ links, hasSandbox }: Frame, title: string): Html => {
  const pages: readonly (readonly [string, string])[] = [
    ['Extractions', links.list()],
    ['Line', links.line()],
    ['Deliveries', links.deliveries()],
    ['Health', links.health()],
    ...(hasSandbox ? [['Sandbox', links.sandbox()] as const] : []),
  ];
  return html`<nav aria-label="Pages"><ul>${pages.map(
    ([name, href]) =>
      html`<li><a href="${href}"${name === title ? html` aria-current="page"` : ''}>${name}</a></li>`,
  )}</ul></nav>`;
};

/** The whole document. Its script and style are files, as the content security policy allows nothing inline. */
export const framePage = (frame: Frame, { title, body, now, live }: FramedPage): Html => {
  const { stage, links, isReadOnly } = frame;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Cosecha ${stage}</title>
<link rel="stylesheet" href="${links.asset('console.css')}">
<link rel="icon" type="image/svg+xml" href="${links.asset('console.svg')}">
${live === undefined ? '' : html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`}
<script src="${links.asset('console.js')}" defer></script>
</head>
<body>
${iconSprite}
<a class="skip" href="#content">Skip to the content</a>
<header>
  <p class="brand"><a href="${links.list()}">Cosecha</a> <span class="badge stage">${stage}</span></p>
  ${navigation(frame, title)}
  <p class="state"><button class="badge" popovertarget="keys">Keys</button> ${isReadOnly ? html`<span class="badge">read-only</span>` : html`<span class="badge warn">actions on</span>`}
  <span id="connection" class="badge" role="status" data-live="${live === undefined ? '' : links.live(live)}">as of <time datetime="${now.toISOString()}">${now.toISOString().slice(11, 19)} UTC</time>${live === undefined ? ', not updated' : ''}</span></p>
</header>
<div id="keys" class="keys" popover><h2>Keys</h2><ul><li><kbd>/</kbd> search</li><li><kbd>j</kbd> and <kbd>k</kbd> next row, row before</li><li><kbd>Enter</kbd> open the row</li><li><kbd>←</kbd> and <kbd>→</kbd> periods of a chart</li><li><kbd>?</kbd> these keys</li></ul></div>
<div id="lost" class="banner lost" role="alert" hidden>${icon('alert')} <p>The console does not answer. What you see is from <span id="last"></span>, and may be old. Is its command still running?</p></div>
<main id="content" tabindex="-1">
${body}
</main>
</body>
</html>`;
};
