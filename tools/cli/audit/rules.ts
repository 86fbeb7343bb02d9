import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Checked, Facts, Logged, Rule, Step, TaskFacts } from './audit-types.ts';
import { age, checkEach, day, olderThan, secondsBetween, slack, timeOf } from './check-each.ts';
import { checkErasedIsGone, checkErasures } from './erasure-rules.ts';
import { expectedAdvice } from './expected-advice.ts';
import { wrongRecord } from './record-rules.ts';
import { checkItems } from './request-item-rules.ts';
import { checkMarks, checkShared } from './shared-rules.ts';
import { checkLine, wrongWait } from './wait-rules.ts';

/** The rules of docs/design.md and docs/stream.md, stated again: code that was shared with the functions would share their mistakes. */
const finalStatuses = ['COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];
const closedAtOnce = ['REJECTED', 'NOT_STARTED', 'UNCONFIRMED'];
const outcomes = [...finalStatuses, ...closedAtOnce, 'TIMED_OUT'];
const allowedNext: Readonly<Record<string, readonly string[]>> = {
  REQUESTED: ['STARTING', 'NOT_STARTED', 'REJECTED'],
  STARTING: ['REQUESTED', 'RUNNING', 'REJECTED', 'UNCONFIRMED'],
  RUNNING: [...finalStatuses, 'TIMED_OUT', 'UNCONFIRMED'],
  TIMED_OUT: finalStatuses,
  UNCONFIRMED: ['RUNNING'],
};

/** What is wrong with the removal of a record. Only closed ones are erased, which leaves a tombstone, or expire. */
const wrongRemoval = ({ tombstones }: Facts, { extractionId, at, before }: Step): string | undefined => {
  if (before?.dueShard !== undefined) return `Its record was removed at ${at}, open as ${before.status}.`;
  const isErased = tombstones.some(
    (one) => one.extractionId === extractionId && one.requestId === before?.requestId,
  );
  if (isErased || (before?.expiresAt !== undefined && timeOf(before.expiresAt) < at)) return undefined;
  return `Its record was removed at ${at}, not by an erasure, and before it expired.`;
};

/** A request or start without a record, and a record that was removed by hand. */
const checkRecords = (facts: Facts): Checked => {
  const { requested, accepted, ids, present, steps, tombstones } = facts;
  const erased = tombstones.filter(({ removingAt, erasedAt }) => (removingAt ?? erasedAt) !== undefined);
  const last = new Map(steps.map((step) => [step.extractionId, step]));
  const removed = [...last.values()].filter(({ after }) => after === undefined);
  const removedIds = new Set([...removed, ...erased].map(({ extractionId }) => extractionId));
  const started = accepted.filter(({ extractionId }) => ids.has(extractionId));
  const logged = new Map([...started, ...requested].map((line) => [line.extractionId, line]));
  const { checked, findings: lost } = checkEach(logged.values(), ({ extractionId, taskId, at }) =>
    present.has(extractionId) || removedIds.has(extractionId)
      ? undefined
      : `It was ${taskId ? 'started' : 'requested'} at ${at}, and has no record. Nobody has erased it within 42 days.`,
  );
  const { findings: removals } = checkEach(removed, (step) => wrongRemoval(facts, step));
  return { checked, findings: [...lost, ...removals] };
};

/** What is wrong with a record past its deadline. The execution has its slack, then a sweep has to find it. */
const wrongAfterDeadline = (facts: Facts, { deadlineAt, status, settledAt }: Extraction) => {
  const { machineSlack, sweepEvery } = facts.limits;
  if (age(facts, deadlineAt) < machineSlack + 3 * sweepEvery + slack) return undefined;
  if (outcomes.includes(status) && settledAt !== undefined) return undefined;
  return `Its deadline was ${deadlineAt}, and it is ${status}${settledAt === undefined ? ', without settledAt' : ''}.`;
};

const checkStarts = ({ accepted, steps, records }: Facts): Checked => {
  const ofSteps = steps.map(({ extractionId, after }) => ({ extractionId, taskId: after?.taskId }));
  const known = [...accepted, ...ofSteps, ...records.values()].filter(({ taskId }) => taskId !== undefined);
  const byId = [...Map.groupBy(known, ({ extractionId }) => extractionId)];
  const started = byId.map(([extractionId, all]) => ({
    extractionId,
    taskIds: new Set(all.map(({ taskId }) => taskId)),
  }));
  const { checked, findings } = checkEach(started, ({ taskIds }) =>
    taskIds.size > 1 ? `${taskIds.size} tasks were accepted for it: ${[...taskIds].join(', ')}.` : undefined,
  );
  // `Tasks` guards the tasks by credentials, and `delivered-recorded` compares with it.
  const consents = [...records.values()].filter(({ method, taskId }) => method === 'consent' && taskId);
  const byTask = Map.groupBy(consents, ({ taskId }) => taskId);
  const sharing = consents.filter(({ taskId }) => byTask.get(taskId)?.[1] !== undefined);
  const shared = checkEach(sharing, ({ taskId }) => `Its task ${taskId} is that of another extraction too.`);
  return { checked, findings: [...findings, ...shared.findings] };
};

/** What is wrong with a change. A record may appear in any status, as a restore copies it. */
const wrongStep = ({ before, after, at }: Step): string | undefined => {
  if (after === undefined) return undefined;
  const { status, settledAt } = after;
  if (before !== undefined && before.request !== after.request) return `Its request was changed at ${at}.`;
  if (before !== undefined && !allowedNext[before.status]?.includes(status)) {
    return `It went from ${before.status} to ${status} at ${at}.`;
  }
  if (outcomes.includes(status) === (settledAt !== undefined)) return undefined;
  return `It became ${status} at ${at}, ${settledAt === undefined ? 'without' : 'with'} settledAt.`;
};

const wrongDelivery = (facts: Facts, record: Extraction): string | undefined => {
  const { extractionId, status, settledAt, settledBy, dueShard, collectionError } = record;
  const task: Partial<TaskFacts> = facts.tasks.get(record.taskId ?? '') ?? {};
  const { extractionId: linked = extractionId, taskStatus = status, notifiedAt = '' } = task;
  const isFinal = finalStatuses.includes(status);
  const isGone = settledBy === 'reconcile' ? task.taskId === undefined : task.taskStatus === undefined;
  const isLost = isFinal && isGone && age(facts, record.startedAt ?? '') < 29 * day;
  if (isLost) return `It is ${status} by ${settledBy}, and \`Tasks\` has nothing of it.`;
  // A reconcile at the end of the execution's wait finds a delivery at the latest.
  if (settledAt === undefined && !(notifiedAt !== '' && age(facts, notifiedAt) > 3_600)) return undefined;
  if (linked !== extractionId) {
    const usesNothing = status === 'UNCONFIRMED' || status === 'TIMED_OUT';
    if (usesNothing || collectionError === 'task-linked-elsewhere') return undefined;
    return `It is ${status}, and its task is linked to ${linked}.`;
  }
  if (taskStatus === status) return undefined;
  // An open one is still corrected. Deliveries are repeated for two minutes.
  if (status === 'TIMED_OUT' && (dueShard !== undefined || age(facts, notifiedAt) < 300)) return undefined;
  // The first final status stays, if a read of the provider had another one before the delivery.
  const wasRead = settledBy === 'reconcile' && isFinal;
  if (wasRead && secondsBetween(notifiedAt, settledAt ?? '') < slack) return undefined;
  return `It is ${status}, and ${taskStatus} was delivered at ${notifiedAt}.`;
};

/** Results that are gone may have expired after a day, the shortest retention. The retention of the deployment is not known here. */
const checkResults = (facts: Facts): Checked => {
  const all = [...facts.records.values()].filter(({ results }) => results !== undefined);
  const read = all.filter(({ extractionId }) => facts.stored.has(extractionId));
  const [unread, expired] = [all.length - read.length, { count: 0 }];
  const { findings } = checkEach(read, ({ extractionId, results, collectedAt = '' }) => {
    const found = facts.stored.get(extractionId);
    if (found?.bytes === results?.bytes && found?.sha256 === results?.sha256) return undefined;
    if (found !== undefined) return `Its results have ${found.bytes} bytes and the SHA-256 ${found.sha256}.`;
    if (age(facts, collectedAt) < day) return `Its results are not in the bucket: ${results?.key}.`;
    expired.count += 1;
    return undefined;
  });
  const notes = [
    ...(unread > 0 ? [`${unread} results, which only --results reads`] : []),
    ...(expired.count > 0 ? [`${expired.count} results that may have expired`] : []),
  ];
  const notChecked = notes.length === 0 ? undefined : notes.join('; ');
  return { checked: read.length - expired.count, findings, notChecked };
};

/** What is wrong with the keys of the index `due`. A close sets `expiresAt`, and a correction removes it. */
const wrongDue = (_: Facts, { status, dueShard, dueAt, expiresAt, collectedAt }: Extraction) => {
  const isDue = dueShard !== undefined && dueAt !== undefined;
  const isClosed = expiresAt !== undefined || collectedAt !== undefined || closedAtOnce.includes(status);
  if (isDue && isClosed) return `It is closed as ${status}, and due at ${dueAt}.`;
  if (isDue) return /^(\d|1[0-5])$/.test(`${dueShard}`) ? undefined : `No sweep reads its shard ${dueShard}.`;
  if (dueShard !== undefined || dueAt !== undefined) return `It is ${status}, with half of its key of due.`;
  return outcomes.includes(status) && isClosed ? undefined : `It is open as ${status}, and never due.`;
};

/** The last try to collect, or to read in grace, may be an hour after the one before, and may need a sweep. */
const wrongOpen = (facts: Facts, { status, settledAt, dueShard }: Extraction): string | undefined => {
  if (settledAt === undefined || dueShard === undefined) return undefined;
  const { grace, collectFor, sweepEvery } = facts.limits;
  const allowed = (status === 'TIMED_OUT' ? grace : collectFor) + 3_600 + 3 * sweepEvery + slack;
  return age(facts, settledAt) < allowed ? undefined : `It is ${status} since ${settledAt}, and still open.`;
};

/** What is wrong with a record by a line of the log about its request, or its start. An older line is of an erased record. */
const wrongByLog = ({ records }: Facts, { extractionId, at, taskId, caller, subject }: Logged) => {
  const record = records.get(extractionId);
  const later = record === undefined ? -slack : secondsBetween(record.requestedAt, at);
  if (record === undefined || later <= -slack) return undefined;
  const { status, requestedBy } = record;
  if (taskId && /^(REQUESTED|REJECTED|NOT_STARTED)$/.test(status))
    return `It is ${status}, yet started at ${at}.`;
  const about = record.method === 'consent' ? record.product : record.entity;
  if (taskId || later > slack) return undefined;
  if ((caller ?? requestedBy) === requestedBy && (subject ?? about) === about) return undefined;
  return `It is of ${requestedBy}, about ${about}. By the log, ${caller} requested ${subject}.`;
};

const wrongAdvice = (_: Facts, record: Extraction): string | undefined => {
  const [has, expected] = [record.advice ?? 'none at all', expectedAdvice(record) ?? 'none at all'];
  return has === expected
    ? undefined
    : `It is ${record.status}. Its advice is ${has}, and in the table ${expected}.`;
};

const ofEach = (
  id: string,
  sentence: string,
  wrong: (facts: Facts, record: Extraction) => string | undefined,
  needs: Rule['needs'] = ['records', 'limits'],
): Rule => ({
  ...{ id, sentence, needs },
  check: (facts) => checkEach(facts.records.values(), (record) => wrong(facts, record)),
});

/** All rules, in the order in which `audit` prints them. */
export const rules: readonly Rule[] = [
  {
    id: 'requests-have-records',
    sentence: 'Every request has a record, until it is erased or expires.',
    needs: ['requested', 'accepted', 'records', 'changes', 'tombstones'],
    check: checkRecords,
  },
  ofEach('deadlines-kept', 'Every record past its deadline has an outcome.', wrongAfterDeadline),
  {
    id: 'one-start',
    sentence: 'At most one start of each extraction was accepted, and no task is that of two.',
    needs: ['accepted', 'changes', 'records'],
    check: checkStarts,
  },
  {
    id: 'changes-allowed',
    sentence: 'Every change of status is an allowed one, and no request changes.',
    needs: ['changes'],
    check: (facts) => {
      // The stream's times have whole seconds, and it has the last 24 hours.
      const within = facts.steps.filter(({ at }) => Date.parse(at) + 1_000 > facts.since.getTime());
      return checkEach(within, wrongStep, olderThan(facts, 1, 'changes of more than 24 h ago'));
    },
  },
  {
    id: 'delivered-recorded',
    sentence: 'The recorded outcome is the one that the provider delivered.',
    needs: ['records', 'tasks'],
    check: (facts) => {
      const withTask = [...facts.records.values()].filter((one) => one.method !== 'consent' && one.taskId);
      const older = olderThan(facts, 30, 'deliveries of more than 30 days ago');
      return checkEach(withTask, (record) => wrongDelivery(facts, record), older);
    },
  },
  {
    id: 'results-intact',
    sentence: 'Results have the recorded size and SHA-256.',
    needs: ['records', 'stored'],
    check: checkResults,
  },
  ofEach(
    'reconciled-in-time',
    'Nothing open is due for more than three sweeps, or waits in vain.',
    wrongWait,
    ['records', 'limits', 'line'],
  ),
  {
    id: 'line-agrees',
    sentence: 'Every place in line is of a start that waits for it.',
    needs: ['line', 'records', 'limits'],
    check: checkLine,
  },
  ofEach('due-while-open', 'Nothing closed is due, and everything open is.', wrongDue, ['records', 'due']),
  {
    id: 'requests-forgotten',
    sentence: 'Every item of `Requests` is there while it is needed, and no longer.',
    needs: ['requestItems', 'records', 'accepted', 'limits', 'tombstones'],
    check: checkItems,
  },
  {
    id: 'erased-is-gone',
    sentence: 'Nothing is left of what was erased.',
    needs: ['tombstones', 'objects', 'records', 'requestItems', 'tasks', 'marks', 'line'],
    check: checkErasedIsGone,
  },
  {
    id: 'erasures-end',
    sentence: 'Every erasure ends, and only what one is about is marked `erasingAt`.',
    needs: ['tombstones', 'records', 'limits'],
    check: checkErasures,
  },
  {
    id: 'marks-agree',
    sentence: 'Credentials are marked as refused only if their bank refused them, and for 28 days at most.',
    needs: ['marks', 'records', 'tasks'],
    check: checkMarks,
  },
  {
    id: 'starts-not-held',
    sentence: 'No breaker and no rate holds starts for more than an hour.',
    needs: ['shared'],
    check: checkShared,
  },
  ofEach('advice', '`advice` is that of the table in docs/stream.md.', wrongAdvice, ['records']),
  ofEach('closed-in-time', 'Every outcome is closed in time, with its results or without.', wrongOpen),
  ofEach('records-valid', 'Every record has what its status needs, and its times are possible.', wrongRecord),
  {
    id: 'log-agrees',
    sentence: 'Every record is of the caller, the subject and the start in the log.',
    needs: ['requested', 'accepted', 'records'],
    check: (facts) => checkEach([...facts.requested, ...facts.accepted], (line) => wrongByLog(facts, line)),
  },
];
