import { html } from 'hono/html';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { printable } from '../terminal/printable.ts';

export type Html = ReturnType<typeof html>;

/** A text of a caller or the provider as it may stand on a page: bounded, and with its control characters visible. */
export const shown = (text: string, most = 120): string => {
  const characters = [...printable(text)];
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`;
};

/** The first eight digits. A UUID of version 7 starts with its time, so the last eight are shown too. */
export const shortId = (extractionId: string): string =>
  `${extractionId.slice(0, 8)}…${extractionId.slice(-6)}`;

/** `12 s ago` or `in 3 min`. The script of the page keeps it up to date. */
const relativeTime = (at: string, now: Date): string => {
  const age = secondsSince(at, now);
  if (Number.isNaN(age)) return shown(at, 40);
  const text = formatSeconds(Math.abs(age)).split(' ').slice(0, 2).join(' ');
  return age >= 0 ? `${text} ago` : `in ${text}`;
};

export const ago = (at: string, now: Date): Html =>
  html`<time datetime="${at}" title="${at}">${relativeTime(at, now)}</time>`;

/** The time of day in UTC, as in the logs: `12:00:00.412`. */
export const timeOfDay = (at: string): string => at.slice(11, 23);

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** A text of Cosecha, bounded, in which `code` is set as such. */
export const withCode = (text: string, most: number): Html =>
  html`${shown(text, most)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
