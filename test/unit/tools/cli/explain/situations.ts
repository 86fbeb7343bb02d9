import type { StorySources } from '../../../../../tools/cli/explain/sources.ts';
import {
  closedExtraction,
  consentIn,
  extractionIn,
  id,
  iso,
} from '../../../../support/extraction-fixtures.ts';
import {
  bounded,
  change,
  denied,
  event,
  failed,
  inReconcile,
  inStartTask,
  linkedTask,
  logLine,
  sourcesWith,
} from './story-fixtures.ts';

export type Situation = {
  readonly name: string;
  /** Seconds after the request at which it is explained. */
  readonly now: number;
  readonly sources: StorySources;
  readonly headline: string;
};

const otherId = '0190a0b0-0000-7000-8000-000000000002';
const results = { bucket: 'b', key: `${id}/x.json`, bytes: 2_489, sha256: 'x' };
const completed = { collectedAt: iso(32), results } as const;
const ranAs = { attemptId: 'attempt-1', startingAt: iso(1), startedAt: iso(2), taskId: 'task-1' };

/** What is stuck or odd, and how it is explained. */
export const situations: readonly Situation[] = [
  {
    name: 'waiting for the webhook',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING'),
      task: async () => linkedTask(),
      execution: async () => inStartTask(),
    }),
    headline:
      "Waits for the provider's webhook until 12:10:01Z; then the machine polls every 2 min until 14:00:00Z.",
  },
  {
    name: 'busy',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('REQUESTED', { attemptId: 'attempt-3' }),
      execution: async () =>
        inStartTask(
          failed(2, 'ProviderBusy', 'The start can be retried.'),
          event(3, 'TaskScheduled'),
          failed(4, 'ProviderBusy', 'The start can be retried.'),
          event(7, 'TaskScheduled'),
          failed(16, 'ProviderBusy', 'The start can be retried.'),
        ),
    }),
    headline:
      'Waits to be started: at try 3, the provider was busy (429). The machine tries again by 12:00:24Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  },
  {
    name: 'busy, with a time before which the provider wants no call',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('REQUESTED', { attemptId: 'attempt-1', notBefore: iso(60) }),
      execution: async () => inStartTask(failed(19, 'ProviderBusy')),
    }),
    headline:
      'Waits to be started: at try 1, the provider was busy (429). The provider asked for no call before 12:01:00Z. The machine tries again by 12:00:21Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  },
  {
    name: 'running, and each of its last reads ended its process',
    now: 900,
    sources: sourcesWith({
      record: async () =>
        consentIn('RUNNING', {
          ...ranAs,
          dueAt: iso(960),
          unfinishedReads: { count: 3, lastBegunAt: iso(600) },
        }),
    }),
    headline:
      'Runs at the provider, and is polled. Without a final status by 14:00:00Z it ends TIMED_OUT. Its last 3 reads ended their process, so only cosecha reconcile reads it again.',
  },
  {
    name: 'of a newer version',
    now: 20,
    sources: sourcesWith({
      record: async () => ({ ...extractionIn('RUNNING'), schemaVersion: 2 }) as never,
    }),
    headline:
      'A newer version has written this record, with the status RUNNING and schemaVersion 2. This version only defers it, until the newer one is deployed again.',
  },
  {
    name: 'paused',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('REQUESTED'),
      execution: async () => inStartTask(failed(2, 'ProviderPaused'), event(4, 'TaskScheduled')),
      breakers: async () => [
        { name: 'starts', state: 'paused', since: iso(-600), reason: 'maintenance at the provider' },
        { name: 'reads', state: 'closed' },
      ],
    }),
    headline:
      'An operator paused starts at 11:50:00Z ("maintenance at the provider"). The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  },
  {
    name: 'circuit breaker open',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('REQUESTED'),
      execution: async () => inStartTask(),
      breakers: async () => [
        { name: 'starts', state: 'open', since: iso(10), until: iso(40), cause: 'ECONNREFUSED' },
      ],
    }),
    headline:
      'The circuit breaker for starts is open until 12:00:40Z, as calls to the provider fail with ECONNREFUSED. The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  },
  {
    name: 'waiting for a probe of the circuit breaker for reads',
    now: 640,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING'),
      task: async () => linkedTask(),
      execution: async () => inReconcile(failed(602, 'NotYet', 'provider-paused')),
      breakers: async () => [{ name: 'reads', state: 'half-open', since: iso(500), until: iso(630) }],
    }),
    headline:
      'The webhook did not come by 12:10:01Z, so the machine polls: 1 poll so far, the next by 12:10:07Z. Without a final status by 14:00:00Z it ends TIMED_OUT. The circuit breaker for reads is half-open: the next call is a probe. Meanwhile nothing is read.',
  },
  {
    name: 'hung start',
    now: 100,
    sources: sourcesWith({
      record: async () => extractionIn('STARTING'),
      execution: async () => inStartTask(),
    }),
    headline:
      "The start is stale since 12:01:01Z: start-task has recorded no answer to its start call of 12:00:01Z. Now the machine's next try or the reconcile after 12:03:01Z ends it UNCONFIRMED, as a task may exist.",
  },
  {
    name: 'unlinked task',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING'),
      execution: async () => inStartTask(),
    }),
    headline:
      "Task task-1 runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after 12:10:01Z. Without a final status by 14:00:00Z it ends TIMED_OUT.",
  },
  {
    name: 'webhook lost',
    now: 640,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING'),
      task: async () => linkedTask(),
      execution: async () =>
        inReconcile(
          failed(602, 'NotYet', 'still-running'),
          event(605, 'TaskScheduled'),
          failed(606, 'NotYet', 'still-running'),
          event(614, 'TaskScheduled'),
          failed(615, 'NotYet', 'still-running'),
        ),
    }),
    headline:
      'The webhook did not come by 12:10:01Z, so the machine polls: 3 polls so far, the next by 12:10:35Z. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  },
  {
    name: 'webhook lost, and found by polling',
    now: 9_000,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'COMPLETED',
          ...ranAs,
          settledAt: iso(615),
          settledBy: 'reconcile',
          collectedAt: iso(616),
          results,
        }),
      task: async () => linkedTask(),
    }),
    headline:
      'COMPLETED at 12:10:15Z, found by polling: no webhook came. Its results, 2489 bytes, were collected at 12:10:16Z.',
  },
  {
    name: 'dead attempt',
    now: 300,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'UNCONFIRMED',
          reason: 'start-interrupted',
          attemptId: 'attempt-1',
          startingAt: iso(1),
          settledAt: iso(92),
          settledBy: 'start',
        }),
      execution: async () =>
        inStartTask(
          failed(61, 'Sandbox.Timedout'),
          event(63, 'TaskScheduled'),
          event(92, 'TaskSucceeded'),
          event(92, 'TaskStateExited', { state: 'StartTask' }),
          event(92, 'ExecutionSucceeded'),
        ),
      logs: async () =>
        bounded(logLine(3, 'start-task', 'The provider accepted the task.', { taskId: 'task-9' })),
    }),
    headline:
      'UNCONFIRMED at 12:01:32Z: start-task ended between the start call of 12:00:01Z and the record of its answer, so a task may exist. The log of start-task names task task-9, which the record does not have. It is never sent again: ask the provider whether a task runs before you request it again.',
  },
  {
    name: 'sweep disabled',
    now: 9_000,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING'),
      task: async () => linkedTask(),
      execution: async () => inReconcile(event(8_101, 'ExecutionTimedOut')),
      sweep: async () => ({ enabled: false, everyMinutes: 5 }),
    }),
    headline: `Due since 14:15:00Z, as the sweep is disabled. Enable its rule, or run \`npx cosecha reconcile ${id}\`. The provider reported no final status by the deadline, 14:00:00Z. The next reconcile reads it once more, and ends it TIMED_OUT if it still runs.`,
  },
  {
    name: 'results too large',
    now: 700,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING', { oversizedAt: iso(602) }),
      task: async () => linkedTask(),
      execution: async () => inReconcile(failed(602, 'NotYet', 'results-too-large')),
    }),
    headline:
      'The results were too large to be read at 12:10:02Z, and with them the final status. Only a webhook can still report it. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  },
  {
    name: 'results too large, and closed without them',
    now: 700,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'COMPLETED',
          ...ranAs,
          settledBy: 'webhook',
          oversizedAt: iso(32),
          collectionError: 'results-too-large',
        }),
      task: async () => linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
    }),
    headline:
      'COMPLETED at 12:00:30Z, reported by the webhook. Its results were not collected (results-too-large): they exceed resultsMaxBytes.',
  },
  {
    name: 'late correction',
    now: 9_000,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'COMPLETED',
          ...ranAs,
          settledAt: iso(8_000),
          settledBy: 'webhook',
          collectedAt: iso(8_001),
          results,
        }),
      changes: async () =>
        bounded(
          change(8_000, 'MODIFY', {
            before: extractionIn('TIMED_OUT'),
            after: extractionIn('COMPLETED', { settledAt: iso(8_000) }),
          }),
        ),
    }),
    headline:
      'COMPLETED at 14:13:20Z, reported by the webhook. This is a correction: it replaced TIMED_OUT, as the deadline was 14:00:00Z. Its results, 2489 bytes, were collected at 14:13:21Z.',
  },
  {
    name: 'waiting for a late correction',
    now: 9_000,
    sources: sourcesWith({
      record: async () => extractionIn('TIMED_OUT', { dueAt: iso(9_100) }),
      task: async () => linkedTask(),
    }),
    headline:
      'TIMED_OUT at 14:00:00Z: the provider reported no final status by the deadline, 14:00:00Z. Until 2026-03-02 14:00:00Z a webhook or a read can still correct it; next, the reconcile after 14:31:40Z reads the provider.',
  },
  {
    name: 'restored',
    now: 9_000,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'UNCONFIRMED',
          reason: 'restored',
          settledAt: iso(8_000),
          settledBy: 'reconcile',
        }),
    }),
    headline:
      'UNCONFIRMED at 14:13:20Z: it was restored from a backup in which its start was not confirmed. It may have been started since, so it is never started again.',
  },
  {
    name: 'restored while it ran',
    now: 9_000,
    sources: sourcesWith({
      record: async () => extractionIn('RUNNING', { deadlineAt: iso(9_600), dueAt: iso(8_900) }),
      task: async () => linkedTask(),
      execution: async () => inStartTask(event(31, 'ExecutionSucceeded')),
      changes: async () => bounded(change(8_900, 'INSERT', { after: extractionIn('RUNNING') })),
    }),
    headline:
      'It was restored from a backup at 14:28:20Z. Waits for the webhook. No machine polls, as its execution has succeeded. Next, the reconcile after 14:28:20Z reads the provider. Without a final status by 14:40:00Z it ends TIMED_OUT.',
  },
  {
    name: 'erased',
    now: 9_000,
    sources: sourcesWith({
      execution: async () => inStartTask(event(31, 'ExecutionSucceeded')),
      changes: async () =>
        bounded(
          change(8_000, 'REMOVE', {
            before: closedExtraction({ status: 'COMPLETED', ...ranAs, ...completed }),
          }),
        ),
    }),
    headline: 'The record was erased at 14:13:20Z. It had ended COMPLETED.',
  },
  {
    name: 'foreign task',
    now: 300,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'UNCONFIRMED',
          reason: 'task-linked-elsewhere',
          ...ranAs,
          settledAt: iso(3),
          settledBy: 'start',
        }),
      task: async () => linkedTask({ extractionId: otherId }),
    }),
    headline: `UNCONFIRMED at 12:00:03Z: the provider answered the start call of 12:00:01Z with task task-1, which belongs to extraction ${otherId}. Nothing of that task was used. Report it to the provider, as it may be a leak.`,
  },
  {
    name: 'an execution of an erased record under the same id',
    now: 20,
    sources: sourcesWith({
      record: async () => extractionIn('REQUESTED'),
      execution: async () => ({ startedAt: iso(-86_400), events: [event(-86_400, 'ExecutionStarted')] }),
    }),
    headline:
      'The execution of this id belongs to an earlier record, which was erased, so nothing starts this one. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  },
  {
    name: 'results that cannot be collected yet',
    now: 700,
    sources: sourcesWith({
      record: async () => extractionIn('COMPLETED', { dueAt: iso(900) }),
      task: async () => linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
      logs: async () =>
        bounded(
          logLine(600, 'sweep-extractions', 'The task could not be read.', {
            failure: { name: 'ProviderBusy', httpStatus: 429 },
          }),
        ),
    }),
    headline:
      'COMPLETED at 12:00:30Z, reported by the webhook. Its results are not collected yet. The last try failed at 12:10:00Z: The task could not be read. They are read again until 2026-03-02 12:00:30Z, next by the reconcile after 12:15:00Z; then it closes without them.',
  },
  {
    name: 'by consent, after its machine has ended',
    now: 700,
    sources: sourcesWith({
      record: async () => consentIn('RUNNING', { dueAt: iso(800) }),
      execution: async () => inStartTask(event(3, 'ExecutionSucceeded')),
    }),
    headline:
      'Is polled by the reconcile queue, as there is no webhook under a consent. Next, the reconcile after 12:13:20Z reads the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  },
  {
    name: 'never started',
    now: 1_300,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          status: 'NOT_STARTED',
          reason: 'start-abandoned',
          settledAt: iso(1_200),
          settledBy: 'reconcile',
        }),
      execution: async () => inStartTask(failed(16, 'ProviderUnreachable')),
    }),
    headline:
      'NOT_STARTED at 12:20:00Z: the machine abandoned the start, or was stopped. At the last try, number 1 at 12:00:01Z, the provider could not be reached. Nothing ran, so it may be requested again.',
  },
  {
    name: 'failed, for two codes, one of which is new',
    now: 1_300,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({
          ...ranAs,
          ...completed,
          status: 'FAILED',
          settledBy: 'webhook',
          actionResults: [
            { id: 'product-balance', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
            { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
            { id: 'tef', status: 'FAILED', errorCode: 'constructor' },
          ],
        }),
    }),
    headline:
      "FAILED at 12:00:30Z, reported by the webhook. product-balance, movement failed with TIMEOUT_ERROR: the maximum operation time was exceeded. It may be requested again. tef failed with constructor: a code that Cosecha does not know. The provider's message is in the results. If it repeats, report it to the provider. Its results, 2489 bytes, were collected at 12:00:32Z.",
  },
  {
    name: 'partial, and not collected yet',
    now: 31,
    sources: sourcesWith({
      record: async () => extractionIn('PARTIAL'),
      settings: async () => denied('lambda:GetFunctionConfiguration'),
    }),
    headline:
      'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. The error codes come with its results. It is PARTIAL and open. What happens next depends on the settings, which could not be read.',
  },
  {
    name: 'partial, with results of an unexpected shape',
    now: 1_300,
    sources: sourcesWith({
      record: async () =>
        closedExtraction({ ...ranAs, ...completed, status: 'PARTIAL', settledBy: 'webhook' }),
    }),
    headline:
      'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. Its results name no error code of an action. Its results, 2489 bytes, were collected at 12:00:32Z.',
  },
  {
    name: 'rejected',
    now: 1_300,
    sources: sourcesWith({ record: async () => extractionIn('REJECTED') }),
    headline: 'REJECTED at 12:00:30Z: the provider answered the start call with HTTP 400. Nothing ran.',
  },
];
