import { html } from 'hono/html';
import type { UserText } from '../../../lib/downstream/user-texts.ts';
import { bounded } from '../explain/bounded-text.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';

export type Html = ReturnType<typeof html>;

/** A text of a caller or the provider as it may stand on a page: bounded, and with its control characters visible. */
export const shown = (text: string, most = 120): string => bounded(text, most);

/** In characters: no name of a caller is cut. A reference has 256 at most, and an ARN of a role hardly more. */
const maxName = 320;

/** A name that somebody may have to read, search or copy as a whole. It wraps where it is too long for its place. */
export const whole = (text: string): string => shown(text, maxName);

/** `12 s ago`, `in 3 min`, or as what lasts since then `12 s`. The script of the page keeps it up to date. */
const relativeTime = (at: string, now: Date, lasts: boolean): string => {
  const age = secondsSince(at, now);
  if (Number.isNaN(age)) return shown(at, 40);
  const text = formatSeconds(Math.abs(age)).split(' ').slice(0, 2).join(' ');
  if (lasts) return text;
  return age >= 0 ? `${text} ago` : `in ${text}`;
};

export const ago = (at: string, now: Date, lasts = false): Html =>
  html`<time class="ago${lasts ? ' lasts' : ''}" datetime="${at}" title="${at}">${relativeTime(at, now, lasts)}</time>`;

const clockEnds = { minute: 16, second: 19, millisecond: 23 } as const;

/**
 * The time of day in UTC, and its day unless that is today. The script of the page adds the browser's own time where that differs.
 * To the minute, both are short enough for a cell of a row.
 */
export const clock = (at: string, now: Date, precision: keyof typeof clockEnds = 'second'): Html => {
  const day = at.slice(precision === 'minute' ? 5 : 0, 10);
  const isToday = now.toISOString().slice(0, 10).endsWith(day);
  const time = at.slice(11, clockEnds[precision]);
  return html`<time class="mono" datetime="${at}" title="${at}">${isToday ? '' : `${shown(day, 20)} `}${shown(time, 20)}</time><span class="local${precision === 'minute' ? ' short' : ''}" data-at="${at}"></span>`;
};

/** A text for the user in each language, as an app may show it. */
export const showUserText = (text: UserText): Html =>
  html`${Object.entries(text).map(([language, one]) => html`<span lang="${language}">${one}</span> <span class="quiet">${language}</span> `)}`;

/** `a`, `a and b`, `a, b and c`. */
export const inWords = (names: readonly string[]): string =>
  names.join(', ').replace(/, ([^,]*)$/, ' and $1');

/** A text of Cosecha, bounded, in which `code` is set as such. */
export const withCode = (text: string, most: number): Html =>
  html`${shown(text, most)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** `250 ms`, `1.25 s`, `2 min 5 s`, `3 h 20 min`. */
export const formatOffset = (ms: number): string => {
  if (ms === 0 || ms >= 60_000) return formatSeconds(ms / 1_000);
  return ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toFixed(2))} s`;
};
