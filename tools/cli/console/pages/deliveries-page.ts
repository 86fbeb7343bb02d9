import { html } from 'hono/html';
import { plural } from '../../terminal/plural.ts';
import { shortId } from '../../terminal/short-id.ts';
import { ago, clock, type Html, shown, withCode } from '../format-for-page.ts';
import { hoursText, sinceIn, startOf } from '../sources/select-extractions.ts';
import { type Bounded, type DeliveryLine, readPart } from '../sources/sources.ts';
import { facet, facets, sinceFacets, table } from './facets-and-tables.ts';
import { badge, type IconName, showPart } from './icons-and-badges.ts';
import { type Content, type Links, type Page, pageOf, showPager } from './page-content-and-links.ts';

const kinds = ['recorded', 'unlinked', 'refused', 'failed', 'check'] as const;

type Appearance = {
  readonly kind: (typeof kinds)[number];
  readonly mark: IconName;
  readonly style: string;
  readonly text: string;
};

const refusals: Readonly<Record<string, string>> = {
  missing: 'it has no signature',
  malformed: 'its signature is not of the form sha256=<64 hex digits>',
  mismatch: 'its signature matches no signing key: forged, or signed with another key',
  'not-json': 'its signature is valid, and its body is not JSON',
  'not-decryptable': 'its signature is valid, and its body cannot be decrypted',
  'no-task': 'its signature is valid, and its body names no task and status',
};

const wakes: Readonly<Record<string, string>> = {
  woken: 'the webhook woke the execution',
  gone: 'the execution no longer waited',
  'no-token': 'the execution did not wait yet',
  'invalid-token': 'Step Functions rejected the callback token',
};

/** What receive-webhook did with a delivery, and why. `repeated`: an earlier one of its task was accepted before. */
const appearanceOf = ({ answer, verdict, wake }: DeliveryLine, repeated: boolean): Appearance => {
  if (verdict === 'doctor') {
    const text = 'no delivery: doctor checked that a wrong signature is refused';
    return { kind: 'check', mark: 'dot', style: 'none', text };
  }
  if (answer === 401 || answer === 400) {
    const text = `refused: ${refusals[verdict] ?? verdict}`;
    return { kind: 'refused', mark: 'cross', style: 'bad', text };
  }
  if (answer === 500) {
    const text = 'failed; the provider delivers it again. The log of receive-webhook has the cause';
    return { kind: 'failed', mark: 'alert', style: 'bad', text };
  }
  if (verdict === 'stored') {
    const text = 'stored for a task that no extraction is linked to: an early delivery or an orphan delivery';
    return { kind: 'unlinked', mark: 'question', style: 'unknown', text };
  }
  if (verdict === 'unknown-status') {
    const text = 'accepted, with a status that the API document does not list; the next read decides';
    return { kind: 'recorded', mark: 'question', style: 'unknown', text };
  }
  const effect = wakes[wake ?? ''] ?? '';
  return repeated
    ? { kind: 'recorded', mark: 'repeat', style: 'mixed', text: `repeated; ${effect}` }
    : { kind: 'recorded', mark: 'check', style: 'good', text: `recorded; ${effect}` };
};

type Row = DeliveryLine & { readonly appearance: Appearance };

/** The lines with what they mean. They come newest first, so the earlier ones of a task are those that follow. */
const rowsOf = (lines: readonly DeliveryLine[]): readonly Row[] => {
  const accepted = new Set<string>();
  return lines
    .toReversed()
    .map((line) => {
      const { taskId = '', answer } = line;
      const repeated = answer === 204 && accepted.has(taskId);
      if (answer === 204) accepted.add(taskId);
      return { ...line, appearance: appearanceOf(line, repeated) };
    })
    .reverse();
};

const headline = (all: readonly Row[], since: string): string => {
  const rows = all.filter(({ appearance }) => appearance.kind !== 'check');
  const checks = all.length - rows.length;
  const ofDoctor = checks === 0 ? '' : ` ${plural(checks, 'row is a check', 'rows are checks')} of doctor.`;
  const refused = rows.filter(({ appearance }) => appearance.kind === 'refused').length;
  const failed = rows.filter(({ appearance }) => appearance.kind === 'failed').length;
  if (rows.length === 0) return `No delivery came in ${since}.${ofDoctor}`;
  const count = plural(rows.length, 'delivery', 'deliveries');
  if (refused + failed === 0) return `${count} came in ${since}, and none was refused.${ofDoctor}`;
  return `Of ${count} in ${since}, ${refused} ${refused === 1 ? 'was' : 'were'} refused and ${failed} failed.${ofDoctor}`;
};

/** A phone leaves it out. */
const noneIf = (text: string | undefined) => (text === undefined ? html` class="none"` : '');

const row = ({ at, taskId, extractionId, answer, appearance }: Row, now: Date, links: Links) => html`<tr>
<td data-label="Time (UTC)">${clock(at, now, 'millisecond')} <span class="quiet">${ago(at, now)}</span></td>
<th data-label="Verdict" scope="row">${badge(appearance.mark, appearance.style, appearance.kind)}</th>
<td data-label="Task"${noneIf(taskId)}>${taskId === undefined ? '–' : html`<code>${shown(taskId)}</code>`}</td>
<td data-label="Extraction"${noneIf(extractionId)}>${
  extractionId === undefined
    ? '–'
    : html`<a class="mono" href="${links.extraction(extractionId)}" title="${shown(extractionId)}">${shortId(extractionId)}</a>`
}</td>
<td data-label="Answer">${answer === 500 ? '5xx' : answer}</td>
<td data-label="Why" class="next">${withCode(appearance.text, 300)}</td>
</tr>`;

const columns = ['Time (UTC)', 'Verdict', 'Task', 'Extraction', 'Answer', 'Why'];

/** How many there are of each verdict, as filters. */
const verdictFacets = (all: readonly Row[], query: URLSearchParams): Html => {
  const counts = Map.groupBy(all, ({ appearance }) => appearance.kind);
  return facets('By verdict', [
    facet(query, { verdict: '' }, `${all.length} all`),
    ...kinds.map((kind) => facet(query, { verdict: kind }, `${counts.get(kind)?.length ?? 0} ${kind}`)),
  ]);
};

export const deliveriesPage = async ({ query, sources, links, now }: Page): Promise<Content> => {
  const since = sinceIn(query);
  const kind = kinds.find((one) => one === query.get('verdict'));
  const part = await readPart(() => sources.deliveries(startOf(since, now)));
  return {
    title: 'Deliveries',
    model: [query.toString(), part],
    body: (at) => {
      const view = ({ items, complete }: Bounded<DeliveryLine>): Html => {
        const all = rowsOf(items);
        const rows = all.filter(({ appearance }) => kind === undefined || appearance.kind === kind);
        const page = pageOf(query, rows);
        return html`
<div class="lead"><h1 id="result" tabindex="-1">${headline(all, hoursText(since))}</h1>${sinceFacets(query)}</div>
${verdictFacets(all, query)}
${
  rows.length === 0
    ? html`<p class="empty">No delivery matches. Here is each that came to the webhook. <code>cosecha deliver</code> sends one.</p>`
    : table(
        {
          id: 'rows',
          style: 'cards deliveries',
          caption: 'Deliveries of the webhook, the newest first',
          columns,
        },
        page.shown.map((one) => row(one, at, links)),
      )
}
${showPager(query, page)}
${complete ? '' : html`<p class="note">There are more than these. Choose a shorter time.</p>`}
<p class="source">From the log of receive-webhook, which has no body and no signature. A body over 16 KiB is refused with 413 and not logged.</p>`;
      };
      return showPart(part, 'Deliveries', view);
    },
  };
};
