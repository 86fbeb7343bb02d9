import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Checked, Facts, Rule, Step, TaskFacts } from './audit-types.ts';
import { expectedAdvice } from './expected-advice.ts';

const day = 86_400;

/** Between the writes of one process, retries included, and between two clocks. In seconds. */
const slack = 60;

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

/** Throws a RangeError if one of them is not a time. */
const secondsBetween = (earlier: string, later: string): number =>
  (Date.parse(new Date(later).toISOString()) - Date.parse(new Date(earlier).toISOString())) / 1_000;

const age = ({ now }: Facts, time: string): number => secondsBetween(time, now.toISOString());

/** A note about the part of the period that a source no longer has. */
const olderThan = (facts: Facts, days: number, what: string): string | undefined =>
  age(facts, facts.since.toISOString()) > days * day + slack ? what : undefined;

/** What `judge` finds wrong with each. A damaged time is a finding too, and does not end the audit. */
const checkEach = <One extends { readonly extractionId: string }>(
  all: Iterable<One>,
  judge: (one: One) => string | undefined,
  notChecked?: string,
): Checked => {
  const judged = [...all].map((one) => {
    try {
      return { extractionId: one.extractionId, what: judge(one) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { extractionId: one.extractionId, what: 'A time in it is damaged.' };
    }
  });
  const findings = judged.flatMap(({ extractionId, what }) => (what ? [{ extractionId, what }] : []));
  return { checked: judged.length, findings, notChecked };
};

/** A request without a record, and a record that was removed while it was open. Only closed ones are erased, or expire. */
const checkRecords = ({ requested, present, steps }: Facts): Checked => {
  const last = new Map(steps.map((step) => [step.extractionId, step]));
  const removed = [...last.values()].filter(({ after }) => after === undefined);
  const removedIds = new Set(removed.map(({ extractionId }) => extractionId));
  const { checked, findings: lost } = checkEach(requested, ({ extractionId, at }) =>
    present.has(extractionId) || removedIds.has(extractionId)
      ? undefined
      : `It was requested at ${at}, and has no record. An erasure of more than 24 h ago looks the same.`,
  );
  const { findings: removals } = checkEach(removed, ({ at, before }) =>
    before?.dueShard === undefined ? undefined : `Its record was removed at ${at}, open as ${before.status}.`,
  );
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
  return checkEach(started, ({ taskIds }) =>
    taskIds.size > 1 ? `${taskIds.size} tasks were accepted for it: ${[...taskIds].join(', ')}.` : undefined,
  );
};

/** What is wrong with a change. A record may appear in any status, as a restore copies it. */
const wrongStep = ({ before, after, at }: Step): string | undefined => {
  if (after === undefined) return undefined;
  const { status, settledAt } = after;
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
  if (settledAt === undefined) return undefined;
  if (linked !== extractionId) {
    const usesNothing = status === 'UNCONFIRMED' || status === 'TIMED_OUT';
    if (usesNothing || collectionError === 'task-linked-elsewhere') return undefined;
    return `It is ${status}, and its task is linked to ${linked}.`;
  }
  if (taskStatus === status) return undefined;
  // An open one is still corrected. Deliveries are repeated for two minutes.
  if (status === 'TIMED_OUT' && (dueShard !== undefined || age(facts, notifiedAt) < 300)) return undefined;
  // The first final status stays, if a read of the provider had another one before the delivery.
  const wasRead = settledBy === 'reconcile' && finalStatuses.includes(status);
  if (wasRead && secondsBetween(notifiedAt, settledAt) < slack) return undefined;
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
const wrongDue = ({ status, dueShard, dueAt, expiresAt, collectedAt }: Extraction): string | undefined => {
  const isDue = dueShard !== undefined && dueAt !== undefined;
  const isClosed = expiresAt !== undefined || collectedAt !== undefined || closedAtOnce.includes(status);
  if (isDue && isClosed) return `It is closed as ${status}, and due at ${dueAt}.`;
  if (isDue) return dueShard < 16 ? undefined : `No sweep reads its dueShard ${dueShard}.`;
  if (dueShard !== undefined || dueAt !== undefined) return `It is ${status}, with half of its key of due.`;
  return outcomes.includes(status) && isClosed ? undefined : `It is open as ${status}, and never due.`;
};

/** When the last use of a request's item ended. Undefined while it may be needed. */
const useEnded = (record: Extraction, { recordRetention }: Facts['limits']): string | undefined => {
  if (record.method === 'credentials') return record.startedAt ?? record.settledAt;
  if (record.status === 'TIMED_OUT' || record.expiresAt === undefined) return undefined;
  return new Date((record.expiresAt - recordRetention) * 1_000).toISOString();
};

const checkItems = (facts: Facts): Checked =>
  checkEach(facts.items, ({ extractionId, requestId, expiresAt }) => {
    const ends = new Date(expiresAt * 1_000).toISOString();
    // TTL removes items some days later (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
    if (age(facts, ends) > 7 * day) return `Its sealed data should have expired at ${ends}.`;
    const record = facts.records.get(extractionId);
    // Otherwise it is of a request that stopped half-way, and expires.
    const ended = record?.requestId === requestId ? useEnded(record, facts.limits) : undefined;
    if (ended === undefined || age(facts, ended) < facts.limits.startTimeout + slack) return undefined;
    return `It is ${record?.status}, and its sealed data, last used at ${ended}, are still stored, until ${ends}.`;
  });

/** The last try to collect, or to read in grace, may be an hour after the one before, and may need a sweep. */
const wrongOpen = (facts: Facts, { status, settledAt, dueShard }: Extraction): string | undefined => {
  if (settledAt === undefined || dueShard === undefined) return undefined;
  const { grace, collectFor, sweepEvery } = facts.limits;
  const allowed = (status === 'TIMED_OUT' ? grace : collectFor) + 3_600 + 3 * sweepEvery + slack;
  return age(facts, settledAt) < allowed ? undefined : `It is ${status} since ${settledAt}, and still open.`;
};

const wrongAdvice = (record: Extraction): string | undefined => {
  const [has, expected] = [record.advice ?? 'none at all', expectedAdvice(record) ?? 'none at all'];
  return has === expected
    ? undefined
    : `It is ${record.status}. Its advice is ${has}, and in the table ${expected}.`;
};

/** The ten rules, in the order of docs/cli.md. */
export const rules: readonly Rule[] = [
  {
    id: 'requests-have-records',
    sentence: 'Every request has a record, until it is erased or expires.',
    needs: ['requested', 'records', 'changes'],
    check: checkRecords,
  },
  {
    id: 'deadlines-kept',
    sentence: 'Every record past its deadline has an outcome.',
    needs: ['records', 'limits'],
    check: (facts) => checkEach(facts.records.values(), (record) => wrongAfterDeadline(facts, record)),
  },
  {
    id: 'one-start',
    sentence: 'At most one start of each extraction was accepted.',
    needs: ['accepted', 'changes', 'records'],
    check: checkStarts,
  },
  {
    id: 'changes-allowed',
    sentence: 'Every change of status is an allowed one.',
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
      const { records, tasks } = facts;
      const withTask = [...records.values()].filter(({ taskId = '' }) => tasks.has(taskId));
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
  {
    id: 'due-while-open',
    sentence: 'Nothing closed is due, and everything open is.',
    needs: ['records', 'due'],
    check: ({ records }) => checkEach(records.values(), wrongDue),
  },
  {
    id: 'requests-forgotten',
    sentence: 'No item of `Requests` outlives its use.',
    needs: ['requestItems', 'records', 'limits'],
    check: checkItems,
  },
  {
    id: 'advice',
    sentence: '`advice` is that of the table in docs/stream.md.',
    needs: ['records'],
    check: ({ records }) => checkEach(records.values(), wrongAdvice),
  },
  {
    id: 'closed-in-time',
    sentence: 'Every outcome is closed in time, with its results or without.',
    needs: ['records', 'limits'],
    check: (facts) => checkEach(facts.records.values(), (record) => wrongOpen(facts, record)),
  },
];
