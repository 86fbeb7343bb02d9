import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Facts } from './audit-types.ts';
import { age, day, secondsBetween, slack, timeOf } from './check-each.ts';

type Fits = (record: Extraction) => boolean;

const is =
  (statuses: string): Fits =>
  ({ status }) =>
    statuses.split(' ').includes(status);
const isFinal = is('COMPLETED PARTIAL FAILED CREDENTIALS_WRONG CREDENTIALS_LOCKED');
const isEnded: Fits = (one) => isFinal(one) || is('REJECTED NOT_STARTED UNCONFIRMED TIMED_OUT')(one);
const isClosed: Fits = (one) => isEnded(one) && one.dueShard === undefined;

const started = 'attemptId startingAt startedAt taskId';
const task = 'startedAt taskId oversizedAt';
const collected = 'collectedAt results actionResults';
const ended = `settledAt settledBy isFinal reason collectionError ${collected}`;

/** What a record that fits has, and never has. Every row that fits counts. */
const forms: readonly (readonly [fits: Fits, has: string, never: string])[] = [
  [() => true, 'requestedBy requestedAt requestId deadlineAt fingerprint', ''],
  [({ method }) => method === 'credentials', 'entity actions', 'product consentId variant'],
  [({ method }) => method === 'consent', 'product consentId variant', 'entity actions withoutWebhook'],
  [is('REQUESTED'), '', `startingAt ${task} ${ended}`],
  [is('STARTING'), 'attemptId startingAt', `${task} ${ended}`],
  [is('RUNNING'), started, ended],
  [isEnded, 'settledAt settledBy', ''],
  [isFinal, `${started} isFinal`, ''],
  [(one) => isFinal(one) && one.method !== 'consent', '', 'reason'],
  [(one) => is('REJECTED')(one) && one.reason !== 'credentials-refused-before', 'attemptId', ''],
  [is('REJECTED NOT_STARTED'), 'isFinal reason', `${task} collectionError ${collected}`],
  [is('UNCONFIRMED'), 'reason', `isFinal collectionError ${collected}`],
  [(one) => is('UNCONFIRMED')(one) && one.reason !== 'task-linked-elsewhere', '', task],
  [is('TIMED_OUT'), `${started} reason`, `isFinal ${collected}`],
  [isClosed, 'expiresAt', 'notBefore readsSlowly'],
  [(one) => isClosed(one) && isFinal(one) && one.collectionError === undefined, 'collectedAt', ''],
  [(one) => is('COMPLETED PARTIAL')(one) && one.collectedAt !== undefined, 'results', ''],
  [({ collectedAt: at, collectionError: error }) => at === undefined || error !== undefined, '', collected],
];

/** A public code, maybe with another after a slash. */
const code = /^[\w.-]{1,100}(\/[\w.-]{1,100})?$/;

/** What is wrong with the attributes of a record, apart from its times. */
const wrongForm = (record: Extraction): string | undefined => {
  const { extractionId, method, status, settledBy, results, collectionError } = record;
  const has = (name: string) => String(record[name as keyof Extraction] ?? '') !== '';
  const fitting = forms.filter(([fits]) => fits(record));
  const lacking = fitting.flatMap(([, names]) => names.split(' ')).find((name) => name !== '' && !has(name));
  if (lacking !== undefined) return `It is ${status}, without ${lacking}.`;
  const surplus = fitting.flatMap(([, , names]) => names.split(' ')).find(has);
  if (surplus !== undefined) return `It is ${status}, with ${surplus}.`;
  const isByReconcile = is('NOT_STARTED TIMED_OUT')(record) || (isFinal(record) && method === 'consent');
  const settler = is('REJECTED')(record) ? 'start' : isByReconcile ? 'reconcile' : settledBy;
  if (settledBy !== settler) return `It is ${status}, settled by ${settledBy}.`;
  // The text is not repeated, as it may be what a record must not have.
  const isText = [record.reason, record.lastProblem, collectionError].some((one = 'none') => !code.test(one));
  if (isText) return 'A text stands where a code belongs.';
  if (results === undefined || results.key === `${extractionId}/${results.sha256}.json`) return undefined;
  return `Its results are not its own: ${results.key}.`;
};

const hour = 3_600;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const steps = ['requestedAt', 'startingAt', 'startedAt', 'settledAt', 'collectedAt'] as const;
const times = [...steps, 'oversizedAt', 'deadlineAt', 'notBefore', 'dueAt'] as const;

/** What is wrong with a record by itself. A deployment may keep it for 91 days to ten years after its close. */
export const wrongRecord = (facts: Facts, record: Extraction): string | undefined => {
  const { status, settledAt, deadlineAt, collectedAt, expiresAt } = record;
  const { deadline, machineSlack, sweepEvery, grace } = facts.limits;
  const dueIn = 3 * sweepEvery + hour + (status === 'TIMED_OUT' ? grace : deadline + machineSlack);
  const max = { deadlineAt: deadline, notBefore: hour, dueAt: dueIn } as Partial<Record<string, number>>;
  const form = wrongForm(record);
  if (form !== undefined) return form;
  const known = times.flatMap((name) => (record[name] === undefined ? [] : [{ name, time: record[name] }]));
  // An audit may read for an hour, so that what it reads is newer than its beginning.
  const isAhead = (name: string, time: string) => -age(facts, time) > (max[name] ?? 0) + hour;
  const wrong = known.find(({ name, time }) => !timeForm.test(time) || isAhead(name, time));
  if (wrong !== undefined) return `Its ${wrong.name} cannot be ${wrong.time}.`;
  const made = known.filter(({ name }) => steps.some((step) => step === name));
  const early = made.find(({ time }, index) => secondsBetween(made[index - 1]?.time ?? time, time) < -slack);
  if (early !== undefined) return `Its ${early.name} is before what came first: ${early.time}.`;
  if (deadlineAt < record.requestedAt) return `Its deadline of ${deadlineAt} is before its request.`;
  const isBeforeEnd = status === 'TIMED_OUT' && secondsBetween(deadlineAt, settledAt ?? '') < -slack;
  if (isBeforeEnd) return `It timed out at ${settledAt}, before its deadline of ${deadlineAt}.`;
  const closedAt = collectedAt ?? settledAt;
  if (expiresAt === undefined || closedAt === undefined) return undefined;
  const kept = secondsBetween(closedAt, timeOf(expiresAt));
  const isKept = kept > 91 * day - slack && -age(facts, timeOf(expiresAt)) < 3_653 * day + hour;
  return isKept ? undefined : `It was closed at ${closedAt}, and expires at ${timeOf(expiresAt)}.`;
};
