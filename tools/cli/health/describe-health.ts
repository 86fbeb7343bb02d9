import type { CheckedDelivery } from '../aws/read-deliveries.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import type { Cause, Change, Figures, PeriodName, SubjectHealth, Times } from './read-health.ts';

const periodLabels: Readonly<Record<PeriodName, string>> = {
  lastHour: 'last hour',
  hourBefore: 'hour before',
  lastDay: 'last day',
  dayBefore: 'day before',
};

/** `8 TIMEOUT_ERROR, 1 NOT_STARTED start-window-over`. */
const describeCauses = (causes: readonly Cause[]): string =>
  causes.map(({ cause, count }) => `${count.toLocaleString('en')} ${cause}`).join(', ');

const changes: Readonly<Record<Exclude<Change, 'same'>, string>> = {
  worse: 'more than',
  better: 'fewer than',
  slower: 'slower than',
};

/** `more than in the hour before (1 of 40)`, or undefined where chance explains the difference. */
export const describeChange = (change: Change, before: Figures, name: PeriodName): string | undefined => {
  if (change === 'same') return undefined;
  const { failed, ended, toOutcome } = before;
  const was =
    change === 'slower'
      ? `95 % took at most ${formatSeconds(toOutcome?.p95 ?? 0)}`
      : `${failed.toLocaleString('en')} of ${ended.toLocaleString('en')}`;
  return `${changes[change]} in the ${periodLabels[name]} (${was})`;
};

/** `, since 11:20Z`: when the first of the last hour failed or, if as many failed before it, the first of the hour before. */
const failingSince = ({ lastHour, hourBefore, hourChange }: SubjectHealth): string => {
  const since =
    hourChange === 'worse' ? lastHour.failedSince : (hourBefore.failedSince ?? lastHour.failedSince);
  return since === undefined || lastHour.failed === 0 ? '' : `, since ${since.slice(11, 16)}Z`;
};

/** `9 of 12 failed in the last hour, since 11:20Z: 8 TIMEOUT_ERROR, 1 FAILED; more than in the hour before (1 of 40).` */
const describeHour = (health: SubjectHealth): string => {
  const { lastHour, hourBefore, hourChange } = health;
  const { ended, failed, causes } = lastHour;
  if (ended === 0) return 'None ended in the last hour.';
  const count = `${failed === 0 ? 'None' : failed.toLocaleString('en')} of ${ended.toLocaleString('en')} failed in the last hour${failingSince(health)}`;
  const explanation = failed === 0 ? '' : `: ${describeCauses(causes)}`;
  const change = describeChange(hourChange, hourBefore, 'hourBefore');
  return `${count}${explanation}${change === undefined ? '' : `; ${change}`}.`;
};

/** Why no bank is named where there are extractions by consent. */
export const byProduct = [
  'By consent, extractions are grouped by product: neither the request nor the record has the bank.',
  '`GET /consents/{consentId}` has it as `entity`.',
];

const columns = ['', 'REQUESTED', 'WELL', 'USER', 'CALLER', 'FAILED', 'TO START', 'TO OUTCOME'] as const;
const widths = [13, 9, 7, 5, 6, 7, 15, 15] as const;

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[index] ?? 0)))
    .join(' ')
    .trimEnd();

/** `1 s, 3 s`: what half and what 95 % of them took at most. */
export const describeTimes = (times: Times | undefined): string =>
  times === undefined ? '–' : `${formatSeconds(times.p50)}, ${formatSeconds(times.p95)}`;

const figuresRow = (label: string, { requested, well, user, caller, failed, toStart, toOutcome }: Figures) =>
  row([
    `  ${label}`,
    ...[requested, well, user, caller, failed].map((count) => count.toLocaleString('en')),
    describeTimes(toStart),
    describeTimes(toOutcome),
  ]);

export const healthHeading = row(columns);

export const describeSubject = (health: SubjectHealth): readonly string[] => [
  `${health.subject}  ${describeHour(health)}`,
  ...(Object.keys(periodLabels) as PeriodName[]).map((name) => figuresRow(periodLabels[name], health[name])),
];

/** How many deliveries of the last hour were verified, and how many no key fits: forged ones, or all after a change of keys. */
export const describeDeliveries = (
  deliveries: readonly Pick<CheckedDelivery, 'verifiedBy'>[],
  isWhole: boolean,
): string => {
  const refused = deliveries.filter(({ verifiedBy }) => verifiedBy === undefined).length;
  const some = isWhole ? '' : 'at least ';
  return `Deliveries of the last hour: ${some}${deliveries.length - refused} verified, ${some}${refused} refused as no key fits.`;
};
