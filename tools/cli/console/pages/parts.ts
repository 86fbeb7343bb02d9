import { html } from 'hono/html';
import type { ExtractionStatus } from '../../../../lib/extraction/record.ts';
import { type Html, shown } from '../shown.ts';
import type { Part } from '../sources.ts';

type Appearance = { readonly mark: string; readonly kind: 'open' | 'good' | 'mixed' | 'bad' | 'unknown' };

/** Each status has a mark of its own shape, so that no status is shown by colour alone. */
const appearances: Readonly<Record<ExtractionStatus, Appearance>> = {
  REQUESTED: { mark: '○', kind: 'open' },
  STARTING: { mark: '◐', kind: 'open' },
  RUNNING: { mark: '●', kind: 'open' },
  COMPLETED: { mark: '✓', kind: 'good' },
  PARTIAL: { mark: '◩', kind: 'mixed' },
  FAILED: { mark: '✕', kind: 'bad' },
  CREDENTIALS_WRONG: { mark: '✕', kind: 'bad' },
  CREDENTIALS_LOCKED: { mark: '✕', kind: 'bad' },
  REJECTED: { mark: '⊘', kind: 'bad' },
  NOT_STARTED: { mark: '⊘', kind: 'bad' },
  UNCONFIRMED: { mark: '?', kind: 'unknown' },
  TIMED_OUT: { mark: '⧖', kind: 'unknown' },
};

const otherAppearance: Appearance = { mark: '·', kind: 'unknown' };

/** A status with its mark. An unknown one, of a later version, is shown as it is. */
export const statusBadge = (status: string): Html => {
  const { mark, kind } = appearances[status as ExtractionStatus] ?? otherAppearance;
  return html`<span class="status ${kind}"><span aria-hidden="true">${mark}</span> ${status}</span>`;
};

/** The part, or the sentence that says why it cannot be shown. */
export const showPart = <Value>(part: Part<Value>, name: string, view: (value: Value) => Html): Html =>
  part.kind === 'read'
    ? view(part.value)
    : html`<p class="missing"><strong>${name}: not shown.</strong> ${shown(part.why, 500)}</p>`;

export const option = (value: string, chosen: string, label = value): Html =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`;
