import { expectedAdvice } from './expected-advice.ts';
import {
  checkEach,
  endsAtOnce,
  type Facts,
  isOutcome,
  isPast,
  providerStatuses,
  type Rule,
  type Step,
  secondsBetween,
} from './facts.ts';
import type { Extraction, TaskFacts } from './sources.ts';

const daySeconds = 86_400;

/** Between two writes of one process, its retries included, and between the clocks of two. */
const slackSeconds = 60;

const recordsWhere = ({ records }: Facts, fits: (record: Extraction) => boolean): readonly Extraction[] =>
  [...records.values()].filter(fits);

/** A note about what a period reaches back to, where nothing shows it any more. */
const before = ({ now, since }: Facts, days: number, what: string): string | undefined =>
  now.getTime() - since.getTime() > days * daySeconds * 1_000 + slackSeconds * 1_000 ? what : undefined;

/** The last step of each extraction: a removal, if its record is gone. */
const lastSteps = ({ steps }: Facts): ReadonlyMap<string, Step> =>
  new Map(steps.map((step) => [step.extractionId, step]));

const requestsHaveRecords: Rule = {
  id: 'requests-have-records',
  sentence: 'Every request has a record, until it is erased or expires.',
  needs: ['requested', 'records', 'changes'],
  check: (facts) => {
    const last = lastSteps(facts);
    const wasClosed = ({ before: old, after }: Step) => after === undefined && old?.dueShard === undefined;
    const lost = checkEach(facts.requested, ({ extractionId, at }) => {
      if (facts.records.has(extractionId) || facts.unknown.has(extractionId)) return undefined;
      const step = last.get(extractionId);
      // That of a removal while it was open is below.
      if (step !== undefined && step.after === undefined) return undefined;
      return `It was requested at ${at}, and there is no record. An erasure of more than 24 h ago would look the same.`;
    });
    const removed = [...last.values()].filter((step) => step.after === undefined && !wasClosed(step));
    const removals = checkEach(
      removed,
      ({ at, before: old }) => `Its record was removed at ${at}, while it was open as ${old?.status}.`,
    );
    return { checked: lost.checked, findings: [...lost.findings, ...removals.findings] };
  },
};

const deadlinesKept: Rule = {
  id: 'deadlines-kept',
  sentence: 'Every record past its deadline has an outcome.',
  needs: ['records', 'limits'],
  check: (facts) => {
    const { machineSlack, sweepEvery } = facts.limits;
    // The execution has its slack, then a sweep finds it. As the alarm does, this allows three intervals.
    const allowed = machineSlack + 3 * sweepEvery + slackSeconds;
    return checkEach(facts.records.values(), ({ status, settledAt, deadlineAt }) => {
      if (!isPast(facts, deadlineAt, allowed)) return undefined;
      if (!isOutcome(status)) return `Its deadline was ${deadlineAt}, and it is ${status}.`;
      return settledAt === undefined ? `It is ${status}, without settledAt.` : undefined;
    });
  },
};

const oneStart: Rule = {
  id: 'one-start',
  sentence: 'At most one start of each extraction was accepted.',
  needs: ['accepted', 'changes', 'records'],
  check: (facts) => {
    const tasks = new Map<string, Set<string>>();
    const add = (extractionId: string, taskId: string | undefined): void => {
      if (taskId === undefined) return;
      tasks.set(extractionId, (tasks.get(extractionId) ?? new Set()).add(taskId));
    };
    for (const { extractionId, taskId } of facts.accepted) add(extractionId, taskId);
    for (const { extractionId, after } of facts.steps) add(extractionId, after?.taskId);
    for (const { extractionId, taskId } of facts.records.values()) add(extractionId, taskId);
    const started = [...tasks].map(([extractionId, ids]) => ({ extractionId, ids }));
    return checkEach(started, ({ ids }) =>
      ids.size > 1 ? `The provider accepted ${ids.size} tasks for it: ${[...ids].join(', ')}.` : undefined,
    );
  },
};

/** Which statuses may follow which (docs/design.md, section 3). */
const allowedNext: Readonly<Record<string, readonly string[]>> = {
  REQUESTED: ['STARTING', 'NOT_STARTED', 'REJECTED'],
  STARTING: ['REQUESTED', 'RUNNING', 'REJECTED', 'UNCONFIRMED'],
  RUNNING: [...providerStatuses, 'TIMED_OUT', 'UNCONFIRMED'],
  TIMED_OUT: [...providerStatuses],
  UNCONFIRMED: ['RUNNING'],
};

/** What is wrong with a change. A record that appears in any status was requested or restored, and one that goes was removed. */
const wrongStep = ({ before: old, after, at }: Step): string | undefined => {
  if (after === undefined) return undefined;
  if (old !== undefined && !allowedNext[old.status]?.includes(after.status)) {
    return `It went from ${old.status} to ${after.status} at ${at}.`;
  }
  if (isOutcome(after.status) === (after.settledAt !== undefined)) return undefined;
  return `It became ${after.status} at ${at}, ${after.settledAt === undefined ? 'without' : 'with'} settledAt.`;
};

const changesAllowed: Rule = {
  id: 'changes-allowed',
  sentence: 'Every change of status is an allowed one.',
  needs: ['changes'],
  check: (facts) => {
    // The stream's times have whole seconds.
    const within = facts.steps.filter(({ at }) => Date.parse(at) + 1_000 > facts.since.getTime());
    const older = before(facts, 1, 'changes of more than 24 h ago, which the stream no longer has');
    return checkEach(within, wrongStep, older);
  },
};

/** What is wrong with a record that has an outcome, and whose task has an item. */
const wrongDelivery = (facts: Facts, record: Extraction, task: TaskFacts): string | undefined => {
  const { extractionId, status, settledAt = '', settledBy, collectionError } = record;
  const { extractionId: linked = extractionId, taskStatus, notifiedAt = '' } = task;
  if (linked !== extractionId) {
    const usesNothing = ['UNCONFIRMED', 'TIMED_OUT'].includes(status);
    return usesNothing || collectionError === 'task-linked-elsewhere'
      ? undefined
      : `It is ${status}, and its task is linked to ${linked}.`;
  }
  if (taskStatus === undefined || taskStatus === status) return undefined;
  // An open TIMED_OUT is still corrected. So is one whose deliveries, in two minutes, are not all made.
  if (status === 'TIMED_OUT' && (record.dueShard !== undefined || !isPast(facts, notifiedAt, 300)))
    return undefined;
  // What came first stays: a read may have had another answer of the provider before the delivery.
  const wasRead = settledBy === 'reconcile' && providerStatuses.has(status);
  if (wasRead && secondsBetween(notifiedAt, settledAt) < slackSeconds) return undefined;
  return `It is ${status}, and ${taskStatus} was delivered at ${notifiedAt}.`;
};

const deliveredRecorded: Rule = {
  id: 'delivered-recorded',
  sentence: 'The recorded outcome is the one that the provider delivered.',
  needs: ['records', 'tasks'],
  check: (facts) => {
    const ended = recordsWhere(
      facts,
      ({ taskId = '', settledAt }) => settledAt !== undefined && facts.tasks.has(taskId),
    );
    const older = before(facts, 30, 'deliveries of more than 30 days ago, which `Tasks` no longer has');
    return checkEach(
      ended,
      (record) => wrongDelivery(facts, record, facts.tasks.get(record.taskId ?? '') as TaskFacts),
      older,
    );
  },
};

const resultsIntact: Rule = {
  id: 'results-intact',
  sentence: 'Results have the recorded size and SHA-256.',
  needs: ['records', 'stored'],
  check: (facts) => {
    const withResults = recordsWhere(facts, ({ results }) => results !== undefined);
    const read = withResults.filter(({ extractionId }) => facts.stored.has(extractionId));
    // The shortest retention of results is a day, and the audit does not know that of the deployment.
    const isGone = ({ extractionId, collectedAt = '' }: Extraction) =>
      facts.stored.get(extractionId) === undefined &&
      facts.now.getTime() - Date.parse(collectedAt) > daySeconds * 1_000;
    const [gone, expected] = [read.filter(isGone), read.filter((record) => !isGone(record))];
    const checked = checkEach(expected, ({ extractionId, results }) => {
      const found = facts.stored.get(extractionId);
      if (found === undefined) return `Its results are not in the bucket: ${results?.key}.`;
      return found.bytes === results?.bytes && found.sha256 === results.sha256
        ? undefined
        : `Its results have ${found.bytes} bytes and the SHA-256 ${found.sha256}, and the record ${results?.bytes} and ${results?.sha256}.`;
    });
    const notes = [
      ...(read.length < withResults.length
        ? [`${withResults.length - read.length} results, which only --results reads`]
        : []),
      ...(gone.length > 0 ? [`${gone.length} results that may have expired`] : []),
    ];
    return { ...checked, notChecked: notes.length === 0 ? undefined : notes.join('; ') };
  },
};

/** What is wrong with the keys of the index `due`. `expiresAt` is set by the close, and removed where a record is reopened. */
const wrongDue = ({ status, dueShard, dueAt, expiresAt, collectedAt }: Extraction): string | undefined => {
  const isDue = dueShard !== undefined || dueAt !== undefined;
  if (isDue && (dueShard === undefined || dueAt === undefined)) {
    return `It is ${status} and has only ${dueAt === undefined ? 'dueShard' : 'dueAt'}, so it is not in the index due.`;
  }
  if (isDue && (dueShard ?? 0) > 15) return `No sweep reads its dueShard ${dueShard}.`;
  const isClosed = expiresAt !== undefined || collectedAt !== undefined || endsAtOnce.has(status);
  if (isDue && isClosed) return `It is closed as ${status}, and due at ${dueAt}.`;
  if (!isDue && !isOutcome(status)) return `It is ${status}, and never due.`;
  return isDue || expiresAt !== undefined
    ? undefined
    : `It is ${status}, never due, and has no expiresAt of a close.`;
};

const dueWhileOpen: Rule = {
  id: 'due-while-open',
  sentence: 'Nothing closed is due, and everything open is.',
  needs: ['records', 'due'],
  check: (facts) => checkEach(facts.records.values(), wrongDue),
};

/** TTL removes an item some days after its end (docs/design.md, "Forgotten once used"). */
const ttlSeconds = 7 * daySeconds;

/** When the last use of a request's item ended. Undefined while it may be needed. */
const useEnded = (record: Extraction, { recordRetention }: Facts['limits']): string | undefined => {
  if (record.method === 'credentials') return record.startedAt ?? record.settledAt;
  if (record.status === 'TIMED_OUT' || record.expiresAt === undefined) return undefined;
  return new Date((record.expiresAt - recordRetention) * 1_000).toISOString();
};

const requestsForgotten: Rule = {
  id: 'requests-forgotten',
  sentence: 'No item of `Requests` outlives its use.',
  needs: ['requestItems', 'records', 'limits'],
  check: (facts) =>
    checkEach(facts.items, ({ extractionId, requestId, expiresAt }) => {
      const ends = new Date(expiresAt * 1_000).toISOString();
      if (isPast(facts, ends, ttlSeconds)) return `Its sealed data should have expired at ${ends}.`;
      const record = facts.records.get(extractionId);
      // Of another request, or of one that stopped before its record was written: it expires.
      if (record === undefined || record.requestId !== requestId) return undefined;
      const ended = useEnded(record, facts.limits);
      if (ended === undefined || !isPast(facts, ended, facts.limits.startTimeout + slackSeconds))
        return undefined;
      return `It is ${record.status}, and its sealed data, last used at ${ended}, are still stored.`;
    }),
};

const adviceFromTable: Rule = {
  id: 'advice',
  sentence: '`advice` is that of the table in docs/stream.md.',
  needs: ['records'],
  check: (facts) =>
    checkEach(facts.records.values(), (record) => {
      const expected = expectedAdvice(record);
      if (record.advice === expected) return undefined;
      return `It is ${record.status} with the advice ${record.advice ?? 'of nothing'}; the table has ${expected ?? 'none for it'}.`;
    }),
};

const closedInTime: Rule = {
  id: 'closed-in-time',
  sentence: 'Every outcome is closed in time, with its results or without.',
  needs: ['records', 'limits'],
  check: (facts) => {
    const { collectFor, grace, sweepEvery } = facts.limits;
    const ended = recordsWhere(facts, ({ settledAt }) => settledAt !== undefined);
    return checkEach(ended, ({ status, settledAt = '', dueShard }) => {
      const open = status === 'TIMED_OUT' ? grace : collectFor;
      // The last try may be an hour after the one before, and may need a sweep.
      const allowed = open + 3_600 + 3 * sweepEvery + slackSeconds;
      if (dueShard === undefined || !isPast(facts, settledAt, allowed)) return undefined;
      return `It is ${status} since ${settledAt}, and still open.`;
    });
  },
};

/** The ten rules, in the order of docs/cli.md. */
export const rules: readonly Rule[] = [
  requestsHaveRecords,
  deadlinesKept,
  oneStart,
  changesAllowed,
  deliveredRecorded,
  resultsIntact,
  dueWhileOpen,
  requestsForgotten,
  adviceFromTable,
  closedInTime,
];
