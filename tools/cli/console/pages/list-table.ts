import { html } from 'hono/html';
import { advices } from '../../../../lib/extraction/advice.ts';
import { type Extraction, entityOrProductOf } from '../../../../lib/extraction/record.ts';
import { currentAdvice, latestOf } from '../../aws/find-extractions.ts';
import type { Trying } from '../../explain/execution-progress.ts';
import { holdOf } from '../../terminal/describe-hold.ts';
import type { StartRate } from '../../terminal/describe-rate.ts';
import { formatSeconds, secondsSince } from '../../terminal/format-seconds.ts';
import { callerName } from '../../terminal/operator-view.ts';
import { shortId } from '../../terminal/short-id.ts';
import { describeNext, startOfLine } from '../describe-next.ts';
import { ago, clock, type Html, whole } from '../format-for-page.ts';
import { isOpen, type Standing } from '../sources/select-extractions.ts';
import type { Hold } from '../sources/sources.ts';
import { table } from './facets-and-tables.ts';
import { badge, statusBadge } from './icons-and-badges.ts';
import type { Links } from './page-content-and-links.ts';

export type Progress = {
  readonly held: readonly Hold[];
  readonly trying: ReadonlyMap<string, Trying>;
  readonly rate: StartRate | undefined;
  readonly isLate: Standing['isLate'];
  readonly sweepEveryMinutes: number;
};

/** A cell of one line. What does not fit ends in “…”, and is whole on hover and in the row that has the focus. */
const cell = (label: string, content: Html | string, more: Html | string = ''): Html =>
  html`<td data-label="${label}"${content === '–' ? html` class="none"` : ''}${more}><span class="cut">${content}</span></td>`;

const adviceCell = (record: Extraction): Html => {
  const advice = currentAdvice(record);
  if (advice === undefined || advice === 'none') return cell('Advice', '–');
  return cell('Advice', advice, html` title="${advices[advice]}"`);
};

const row = (record: Extraction, progress: Progress, now: Date, links: Links): Html => {
  const { held, trying, rate, isLate, sweepEveryMinutes } = progress;
  const { extractionId, status, method, requestedBy, requestedAt, settledAt, reference = '–' } = record;
  const startAt = startOfLine(record, rate, now);
  const next = describeNext(
    record,
    { now, sweepEveryMinutes },
    { hold: holdOf(record, held), trying: trying.get(extractionId), startAt },
  );
  const took =
    settledAt === undefined
      ? ago(requestedAt, now, true)
      : formatSeconds(secondsSince(requestedAt, new Date(settledAt)));
  const late = isLate(record);
  return html`<tr data-key="${extractionId}" class="${late ? 'overdue' : isOpen(record) ? 'open' : 'ended'}">
${cell('Status', late ? badge('alert', 'hold', html`overdue · ${status}`) : statusBadge(status))}
<th data-label="Extraction" scope="row"><a href="${links.extraction(extractionId)}" title="${extractionId}">${shortId(extractionId)}</a></th>
${cell('Entity or product', html`${whole(entityOrProductOf(record))}${method === 'consent' ? html` <span class="quiet">by consent</span>` : ''}`)}
${cell('Reference', whole(reference))}
${cell('Caller', whole(callerName(requestedBy)), html` title="${whole(requestedBy)}"`)}
${cell(settledAt === undefined ? 'Requested' : 'Ended', html`${ago(latestOf(record), now)} <span class="quiet">${clock(latestOf(record), now, 'minute')}</span>`)}
${cell('Duration', took)}
<td data-label="${isOpen(record) ? 'Next' : 'End'}" class="next"><span class="cut">${next}</span></td>
${adviceCell(record)}
</tr>`;
};

const columns = [
  'Status',
  'Extraction',
  'Entity or product',
  'Reference',
  'Caller',
  'Since (UTC, local)',
  'Duration',
  'What happens next, or how it ended',
  'Advice',
];

export const listTable = (
  records: readonly Extraction[],
  progress: Progress,
  now: Date,
  links: Links,
): Html => {
  const caption = 'Extractions, the overdue first, then the open, then those that ended';
  const rows = records.map((record) => row(record, progress, now, links));
  return table({ id: 'rows', style: 'cards extractions', caption, columns }, rows);
};
