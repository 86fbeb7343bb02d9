import { html } from 'hono/html';
import type { ExtractionStatus } from '../../../../lib/extraction/record.ts';
import { type Html, shown } from '../format-for-page.ts';
import type { Part } from '../sources/sources.ts';

/** Signs as drawings, since fonts lack many such characters. Each is a path in a square of 16, in the colour of the text beside it. */
const iconPaths = {
  ring: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2Zm0 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8Z',
  half: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2Zm0 2v8a4 4 0 1 1 0-8Z',
  disc: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2Z',
  check: 'M6.4 13.2 1.6 8.4l1.8-1.8 3 3 6.2-6.8 1.9 1.7Z',
  part: 'M2 2h12v12H2Zm2 2v8l8-8Z',
  cross: 'M3.6 1.9 8 6.3l4.4-4.4 1.7 1.7L9.7 8l4.4 4.4-1.7 1.7L8 9.7l-4.4 4.4-1.7-1.7L6.3 8 1.9 3.6Z',
  barred: 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13ZM4 7h8v2H4Z',
  question:
    'M6.9 10V8.3c1.5-.7 2.2-1.3 2.2-2.2 0-.8-.5-1.2-1.3-1.2-.9 0-1.4.6-1.5 1.5H3.9C4 4.2 5.5 2.7 7.9 2.7c2.3 0 3.8 1.3 3.8 3.3 0 1.5-.9 2.5-2.5 3.3V10Zm-.2 1.3h2.7v2.5H6.7Z',
  clock:
    'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13Zm0 2a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9ZM7 5h2v2.6l2 1.2-1 1.7-3-1.8Z',
  alert: 'M8 1.5 15.3 14.5H.7ZM7 6v4h2V6Zm0 5v2h2v-2Z',
  pause: 'M3 2h3.5v12H3Zm6.5 0H13v12H9.5Z',
  repeat: 'M8 2.5a5.5 5.5 0 0 1 4.9 3L14.5 4v5h-5l1.8-1.8A3.5 3.5 0 1 0 11 10l1.9.8A5.5 5.5 0 1 1 8 2.5Z',
  dot: 'M8 6a2 2 0 1 0 0 4a2 2 0 1 0 0-4Z',
} as const;

export type IconName = keyof typeof iconPaths;

/** Every icon once, and the hatching of drawings. A page has it outside of the part that is updated. */
export const iconSprite = html`<svg class="hidden" aria-hidden="true"><defs>${['hatch', 'hatch-light'].map((name) => html`<pattern id="${name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="${name}" x1="0" y1="0" x2="0" y2="6"/></pattern>`)}</defs>${Object.entries(
  iconPaths,
).map(
  ([name, path]) =>
    html`<symbol id="icon-${name}" viewBox="0 0 16 16"><path fill-rule="evenodd" d="${path}"/></symbol>`,
)}</svg>`;

export const icon = (name: IconName): Html =>
  html`<svg class="icon" aria-hidden="true"><use href="#icon-${name}"/></svg>`;

type Appearance = { readonly icon: IconName; readonly kind: 'open' | 'good' | 'mixed' | 'bad' | 'unknown' };

/** Each status has an icon of its own shape, so that no status is shown by colour alone. */
const appearances: Readonly<Record<ExtractionStatus, Appearance>> = {
  REQUESTED: { icon: 'ring', kind: 'open' },
  STARTING: { icon: 'half', kind: 'open' },
  RUNNING: { icon: 'disc', kind: 'open' },
  COMPLETED: { icon: 'check', kind: 'good' },
  PARTIAL: { icon: 'part', kind: 'mixed' },
  FAILED: { icon: 'cross', kind: 'bad' },
  CREDENTIALS_WRONG: { icon: 'cross', kind: 'bad' },
  CREDENTIALS_LOCKED: { icon: 'cross', kind: 'bad' },
  REJECTED: { icon: 'barred', kind: 'bad' },
  NOT_STARTED: { icon: 'barred', kind: 'bad' },
  UNCONFIRMED: { icon: 'question', kind: 'unknown' },
  TIMED_OUT: { icon: 'clock', kind: 'unknown' },
};

/** How a status looks. An unknown one, of a later version, has a look of its own. */
export const appearanceOf = (status: string): Appearance =>
  appearances[status as ExtractionStatus] ?? { icon: 'dot', kind: 'unknown' };

export const badge = (name: IconName, kind: string, text: string | Html): Html =>
  html`<span class="status ${kind}">${icon(name)} ${text}</span>`;

export const statusBadge = (status: string): Html => {
  const { icon: name, kind } = appearanceOf(status);
  return badge(name, kind, status);
};

export const showPart = <Value>(part: Part<Value>, name: string, view: (value: Value) => Html): Html =>
  part.kind === 'read'
    ? view(part.value)
    : html`<p class="banner"><strong>${name}: not shown.</strong> ${shown(part.explanation, 500)}</p>`;

export const option = (value: string, chosen: string, label = value): Html =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`;
