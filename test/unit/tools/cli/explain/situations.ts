import type { SettledBy } from '../../../../../lib/extraction/record.ts';
import type { Hold } from '../../../../../tools/cli/explain/sources.ts';
import { denied } from '../../../../support/browser/console-fixtures.ts';
import {
  closedExtraction,
  consentIn,
  extractionIn,
  id,
  iso,
} from '../../../../support/data/extraction-fixtures.ts';
import {
  bounded,
  change,
  event,
  failed,
  inReconcile,
  inStartTask,
  type KnownValues,
  linkedTask,
  logLine,
} from './story-fixtures.ts';

/** What it is, how many seconds after the request it is explained, what the sources know, and the headline. */
type Situation = readonly [string, number, KnownValues, string];

const otherId = '0190a0b0-0000-7000-8000-000000000002';
const results = { bucket: 'b', key: `${id}/x.json`, bytes: 2_489, sha256: 'x' };
const collected = (seconds: number) => ({ collectedAt: iso(seconds), results });
const settled = (seconds: number, settledBy: SettledBy) => ({ settledAt: iso(seconds), settledBy });
const ranAs = { attemptId: 'attempt-1', startingAt: iso(1), startedAt: iso(2), taskId: 'task-1' };

const openOf = (caller: string, group: string): Hold => ({
  kind: 'open',
  calls: 'starts',
  caller,
  group,
  since: iso(10),
  nextTurnAt: iso(40),
  cause: 'ECONNREFUSED',
});

/** What is stuck or odd, and how it is explained. */
export const situations: readonly Situation[] = [
  [
    'waiting for the webhook',
    20,
    { record: extractionIn('RUNNING'), task: linkedTask(), execution: inStartTask() },
    "Waits for the provider's webhook until 12:10:01Z; then the machine polls every 2 min until 14:00:00Z.",
  ],
  [
    'busy',
    20,
    {
      record: extractionIn('REQUESTED', { attemptId: 'attempt-3' }),
      execution: inStartTask(
        failed(2, 'ProviderBusy', 'The start can be retried.'),
        event(3, 'TaskScheduled'),
        failed(4, 'ProviderBusy', 'http-429'),
        event(7, 'TaskScheduled'),
        failed(16, 'ProviderBusy', 'quota-reached'),
      ),
    },
    'Waits to be started: at try 3, the monthly quota of the provider was reached. The machine tries again by 12:00:24Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'busy again, after a redrive',
    20,
    {
      record: extractionIn('REQUESTED', { attemptId: 'attempt-1' }),
      execution: inStartTask(
        event(2, 'ExecutionFailed'),
        event(10, 'ExecutionRedriven'),
        failed(19, 'ProviderBusy'),
      ),
    },
    'Waits to be started: at try 1, the provider was busy (429). The machine tries again by 12:00:21Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'busy, with a time before which the provider wants no call',
    20,
    {
      record: extractionIn('REQUESTED', { attemptId: 'attempt-1', notBefore: iso(60) }),
      execution: inStartTask(failed(19, 'ProviderBusy')),
    },
    'Waits to be started: at try 1, the provider was busy (429). The provider asked for no call before 12:01:00Z. The machine tries again by 12:00:21Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'running, and each of its last reads ended its process',
    900,
    {
      record: consentIn('RUNNING', {
        ...ranAs,
        dueAt: iso(960),
        unfinishedReads: { count: 3, lastBegunAt: iso(600) },
      }),
    },
    'Runs at the provider. Without a final status by 14:00:00Z it ends TIMED_OUT. Its last 3 reads ended their process, so only cosecha reconcile reads it again.',
  ],
  [
    'of a newer version',
    20,
    { record: { ...extractionIn('RUNNING'), schemaVersion: 2 } as never },
    'A newer version has written this record, with the status RUNNING and schemaVersion 2. This version only defers it, until the newer one is deployed again.',
  ],
  [
    'paused',
    20,
    {
      record: extractionIn('REQUESTED'),
      execution: inStartTask(failed(2, 'ProviderPaused'), event(4, 'TaskScheduled')),
      holds: [
        {
          kind: 'paused',
          calls: 'starts',
          since: iso(-600),
          reason: 'maintenance at the provider',
          by: 'arn:aws:sts::111122223333:assumed-role/Operator/ana',
        },
      ],
    },
    'Starts have been paused since 11:50:00Z by ana: maintenance at the provider. The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'held by the circuit breaker of its entity, after those of others that do not concern it',
    20,
    {
      record: extractionIn('REQUESTED'),
      execution: inStartTask(),
      holds: [
        { ...openOf(extractionIn('REQUESTED').requestedBy, 'another-bank'), since: iso(1) },
        openOf('arn:aws:iam::111122223333:role/another', 'bank'),
        openOf(extractionIn('REQUESTED').requestedBy, 'bank'),
      ],
    },
    'Starts of Caller for bank have been held since 12:00:10Z, as calls to the provider fail with ECONNREFUSED; next turn at 12:00:40Z. The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'its reads paused',
    640,
    {
      record: extractionIn('RUNNING'),
      task: linkedTask(),
      execution: inReconcile(failed(602, 'NotYet', 'provider-paused')),
      holds: [
        openOf(extractionIn('RUNNING').requestedBy, 'bank'),
        { kind: 'paused', calls: 'reads', since: iso(500), reason: 'quota' },
      ],
    },
    'The webhook did not come by 12:10:01Z, so the machine polls: 1 poll so far, the next by 12:10:07Z. Without a final status by 14:00:00Z it ends TIMED_OUT. Reads have been paused since 12:08:20Z: quota. Meanwhile nothing is read.',
  ],
  [
    'running, and read by the slow queue',
    900,
    { record: consentIn('RUNNING', { ...ranAs, dueAt: iso(960), readsSlowly: true }) },
    'Runs at the provider, and is polled. Without a final status by 14:00:00Z it ends TIMED_OUT. Its last read failed or took too long, so that the slow queue reads it, until a read is answered.',
  ],
  [
    'running at a provider without webhooks, under an execution that has ended',
    900,
    {
      record: extractionIn('RUNNING', { withoutWebhook: true, dueAt: iso(960) }),
      task: linkedTask(),
      execution: inStartTask(event(3, 'TaskSucceeded'), event(3, 'ExecutionSucceeded')),
    },
    'The reconcile queue continues, as the provider sends no webhooks. Next, the reconcile after 12:16:00Z reads the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  ],
  [
    'hung start',
    100,
    { record: extractionIn('STARTING'), execution: inStartTask() },
    "The start is stale since 12:01:01Z: start-task has recorded no answer to its start call of 12:00:01Z. Now the machine's next try or the reconcile after 12:03:01Z ends it UNCONFIRMED, as a task may exist.",
  ],
  [
    'unlinked task',
    20,
    { record: extractionIn('RUNNING'), execution: inStartTask() },
    "Task task-1 runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after 12:10:01Z. Without a final status by 14:00:00Z it ends TIMED_OUT.",
  ],
  [
    'webhook lost',
    640,
    {
      record: extractionIn('RUNNING'),
      task: linkedTask(),
      execution: inReconcile(
        failed(602, 'NotYet', 'still-running'),
        event(605, 'TaskScheduled'),
        failed(606, 'NotYet', 'still-running'),
        event(614, 'TaskScheduled'),
        failed(615, 'NotYet', 'still-running'),
      ),
    },
    'The webhook did not come by 12:10:01Z, so the machine polls: 3 polls so far, the next by 12:10:35Z. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  ],
  [
    'webhook lost, and found by polling',
    9_000,
    {
      record: closedExtraction({
        status: 'COMPLETED',
        ...ranAs,
        ...settled(615, 'reconcile'),
        ...collected(616),
      }),
      task: linkedTask(),
    },
    'COMPLETED at 12:10:15Z, found by polling: no webhook came. Its results, 2489 bytes, were collected at 12:10:16Z.',
  ],
  [
    'dead attempt',
    300,
    {
      record: closedExtraction({
        status: 'UNCONFIRMED',
        reason: 'start-interrupted',
        attemptId: 'attempt-1',
        startingAt: iso(1),
        ...settled(92, 'start'),
      }),
      execution: inStartTask(
        failed(61, 'Sandbox.Timedout'),
        event(63, 'TaskScheduled'),
        event(92, 'TaskSucceeded'),
        event(92, 'TaskStateExited', { state: 'StartTask' }),
        event(92, 'ExecutionSucceeded'),
      ),
      logs: bounded(logLine(3, 'start-task', 'The provider accepted the task.', { taskId: 'task-9' })),
    },
    'UNCONFIRMED at 12:01:32Z: start-task ended between the start call of 12:00:01Z and the record of its answer, so a task may exist. The log of start-task names task task-9, which the record does not have. It is never sent again. Ask the provider whether the task runs before you request it again.',
  ],
  [
    'sweep disabled',
    9_000,
    {
      record: extractionIn('RUNNING'),
      task: linkedTask(),
      execution: inReconcile(event(8_101, 'ExecutionTimedOut')),
      sweep: { enabled: false, everyMinutes: 5 },
    },
    `Due since 14:15:00Z, as the sweep is disabled. Enable its rule, or run \`cosecha reconcile ${id}\`. No final status is known by the deadline, 14:00:00Z. The next reconcile reads it once more, and ends it TIMED_OUT if it still runs.`,
  ],
  [
    'results too large',
    700,
    {
      record: extractionIn('RUNNING', { oversizedAt: iso(602) }),
      task: linkedTask(),
      execution: inReconcile(failed(602, 'NotYet', 'results-too-large')),
    },
    'The results were too large to be read at 12:10:02Z, and with them the final status. Only a webhook can still report it. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  ],
  [
    'results too large, and closed without them',
    700,
    {
      record: closedExtraction({
        status: 'COMPLETED',
        ...ranAs,
        settledBy: 'webhook',
        oversizedAt: iso(32),
        collectionError: 'results-too-large',
      }),
      task: linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
    },
    'COMPLETED at 12:00:30Z, reported by the webhook. Its results were not collected (results-too-large): the results exceed `resultsMaxBytes`. Change the request. As it is, it cannot succeed.',
  ],
  [
    'late correction',
    9_000,
    {
      record: closedExtraction({
        status: 'COMPLETED',
        ...ranAs,
        ...settled(8_000, 'webhook'),
        ...collected(8_001),
      }),
      changes: bounded(
        change(8_000, 'MODIFY', {
          before: extractionIn('TIMED_OUT'),
          after: extractionIn('COMPLETED', { settledAt: iso(8_000) }),
        }),
      ),
    },
    'COMPLETED at 14:13:20Z, reported by the webhook. This is a correction: it replaced TIMED_OUT, as the deadline was 14:00:00Z. Its results, 2489 bytes, were collected at 14:13:21Z.',
  ],
  [
    'waiting for a late correction',
    9_000,
    { record: extractionIn('TIMED_OUT', { dueAt: iso(9_100) }), task: linkedTask() },
    'TIMED_OUT at 14:00:00Z: no final status was known by the deadline, 14:00:00Z. Until 2026-03-02 14:00:00Z a webhook or a read can still correct it; next, the reconcile after 14:31:40Z reads the provider.',
  ],
  [
    'timed out after a read',
    9_000,
    {
      record: extractionIn('TIMED_OUT', { dueAt: iso(9_100) }),
      task: linkedTask(),
      logs: bounded(
        logLine(3_600, 'reconcile-extraction', 'Reconcile finished.', {
          status: 'RUNNING',
          why: 'ProviderBusy',
        }),
        logLine(7_200, 'reconcile-extraction', 'Reconcile finished.', {
          status: 'TIMED_OUT',
          why: 'still-running',
        }),
      ),
    },
    'TIMED_OUT at 14:00:00Z: no final status was known by the deadline, 14:00:00Z: the provider reported that it still ran. Until 2026-03-02 14:00:00Z a webhook or a read can still correct it; next, the reconcile after 14:31:40Z reads the provider.',
  ],
  [
    'timed out, and each of its last reads ended its process',
    9_000,
    {
      record: extractionIn('TIMED_OUT', {
        dueAt: iso(9_100),
        unfinishedReads: { count: 3, lastBegunAt: iso(8_000) },
      }),
      task: linkedTask(),
    },
    'TIMED_OUT at 14:00:00Z: no final status was known by the deadline, 14:00:00Z. Until 2026-03-02 14:00:00Z a webhook can still correct it. Its last 3 reads ended their process, so only cosecha reconcile reads it again.',
  ],
  [
    'reads paused beyond its grace',
    100_000,
    {
      record: extractionIn('TIMED_OUT', { dueAt: iso(100_100) }),
      task: linkedTask(),
      holds: [{ kind: 'paused', calls: 'reads', since: iso(7_000), reason: 'quota' }],
      logs: bounded(
        logLine(7_200, 'reconcile-extraction', 'Reconcile finished.', {
          status: 'TIMED_OUT',
          why: 'ProviderPaused',
        }),
      ),
    },
    'TIMED_OUT at 2026-03-01 14:00:00Z: no final status was known by the deadline, 2026-03-01 14:00:00Z: no read was made, as reads were paused or the provider had asked to wait. Its grace ended at 14:00:00Z. Reads have been paused since 2026-03-01 13:56:40Z: quota. Once they are resumed, it is read once more and closes.',
  ],
  [
    'by consent, and the sealed target of its request is lost',
    700,
    {
      record: consentIn('RUNNING', { ...ranAs, dueAt: iso(800) }),
      execution: inStartTask(event(3, 'ExecutionSucceeded')),
      logs: bounded(
        logLine(600, 'reconcile-extraction', 'Reconcile finished.', {
          status: 'RUNNING',
          why: 'request-data-gone',
        }),
      ),
    },
    'The reconcile queue continues, as there is no webhook under a consent. Next, the reconcile after 12:13:20Z checks what is due. Without a final status by 14:00:00Z it ends TIMED_OUT. It is not read any more, as the sealed data of its request are gone.',
  ],
  [
    'by consent, and the logs cannot be read',
    700,
    {
      record: consentIn('RUNNING', { ...ranAs, dueAt: iso(800) }),
      logs: () => denied('logs:FilterLogEvents'),
    },
    'Runs at the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  ],
  [
    'found by polling, and the item in Tasks has expired',
    9_000,
    {
      record: closedExtraction({
        status: 'COMPLETED',
        ...ranAs,
        ...settled(615, 'reconcile'),
        ...collected(616),
      }),
    },
    'COMPLETED at 12:10:15Z, found by polling. Its results, 2489 bytes, were collected at 12:10:16Z.',
  ],
  [
    'never started, as its request was lost, under an execution that was stopped',
    1_300,
    {
      record: closedExtraction({
        status: 'NOT_STARTED',
        reason: 'request-data-gone',
        ...settled(60, 'reconcile'),
      }),
      execution: inStartTask(event(60, 'ExecutionAborted')),
    },
    'NOT_STARTED at 12:01:00Z: the sealed data of its request were gone, without which nothing can be started. Nothing ran. Request it again, with a new key.',
  ],
  [
    'restored',
    9_000,
    {
      record: closedExtraction({ status: 'UNCONFIRMED', reason: 'restored', ...settled(8_000, 'reconcile') }),
      changes: bounded(change(8_000, 'INSERT', { after: closedExtraction({ status: 'UNCONFIRMED' }) })),
    },
    'UNCONFIRMED at 14:13:20Z: it was restored from a backup in which its start was not confirmed. It may have been started since, so it is never started again. Ask the provider whether the task runs before you request it again.',
  ],
  [
    'restored while it ran',
    9_000,
    {
      record: extractionIn('RUNNING', { deadlineAt: iso(9_600), dueAt: iso(8_900) }),
      task: linkedTask(),
      execution: inStartTask(event(31, 'ExecutionSucceeded')),
      changes: bounded(change(8_900, 'INSERT', { after: extractionIn('RUNNING') })),
    },
    'It was restored from a backup at 14:28:20Z. Waits for the webhook. No machine polls, as its execution has succeeded. Next, the reconcile after 14:28:20Z reads the provider. Without a final status by 14:40:00Z it ends TIMED_OUT.',
  ],
  [
    'erased',
    9_000,
    {
      execution: inStartTask(event(31, 'ExecutionSucceeded')),
      changes: bounded(
        change(8_000, 'REMOVE', {
          before: closedExtraction({ status: 'COMPLETED', ...ranAs, ...collected(32) }),
        }),
      ),
    },
    'The record was erased at 14:13:20Z. It had ended COMPLETED.',
  ],
  [
    'foreign task',
    300,
    {
      record: closedExtraction({
        status: 'UNCONFIRMED',
        reason: 'task-linked-elsewhere',
        ...ranAs,
        ...settled(3, 'start'),
      }),
      task: linkedTask({ extractionId: otherId }),
    },
    `UNCONFIRMED at 12:00:03Z: the provider answered the start call of 12:00:01Z with task task-1, which belongs to extraction ${otherId}. Nothing of that task was used. Report it to the provider, as it may be a leak. The operator of Cosecha has to act. Requesting it again would not help.`,
  ],
  [
    'an execution of an erased record under the same id',
    20,
    {
      record: extractionIn('REQUESTED'),
      execution: { startedAt: iso(-86_400), events: [event(-86_400, 'ExecutionStarted')] },
    },
    'The execution of this id belongs to an earlier record, which was erased, so nothing starts this one. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
  ],
  [
    'results that cannot be collected yet',
    700,
    {
      record: extractionIn('COMPLETED', { dueAt: iso(900) }),
      task: linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
      logs: bounded(
        logLine(600, 'sweep-extractions', 'The task could not be read.', {
          failure: { name: 'ProviderBusy', httpStatus: 429 },
        }),
      ),
    },
    'COMPLETED at 12:00:30Z, reported by the webhook. Its results are not collected yet. The last try failed at 12:10:00Z: The task could not be read. They are read again until 2026-03-02 12:00:30Z, next by the reconcile after 12:15:00Z; then it closes without them.',
  ],
  [
    'by consent, after its machine has ended',
    700,
    {
      record: consentIn('RUNNING', { dueAt: iso(800) }),
      execution: inStartTask(event(3, 'ExecutionSucceeded')),
    },
    'The reconcile queue continues, as there is no webhook under a consent. Next, the reconcile after 12:13:20Z reads the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
  ],
  [
    'never started',
    1_300,
    {
      record: closedExtraction({
        status: 'NOT_STARTED',
        reason: 'start-abandoned',
        ...settled(1_200, 'reconcile'),
      }),
      execution: inStartTask(failed(16, 'ProviderUnreachable')),
    },
    'NOT_STARTED at 12:20:00Z: the machine abandoned the start, or was stopped. At the last try, number 1 at 12:00:01Z, the provider could not be reached. Nothing ran. Request it again, with a new key.',
  ],
  [
    'never started, for a cause that the record and the execution have',
    1_300,
    {
      record: closedExtraction({
        status: 'NOT_STARTED',
        reason: 'start-window-over',
        lastProblem: 'login-http-401',
        ...settled(1_200, 'reconcile'),
      }),
      execution: inStartTask(failed(16, 'ProviderUnauthorized', 'login-http-401')),
    },
    'NOT_STARTED at 12:20:00Z: the start window was over. At the last try, number 1 at 12:00:01Z, the provider gave no token: the provider answered with HTTP 401. Nothing ran. The operator of Cosecha has to act. Requesting it again would not help.',
  ],
  [
    'failed, for two codes, one of which is new',
    1_300,
    {
      record: closedExtraction({
        ...ranAs,
        ...collected(32),
        status: 'FAILED',
        settledBy: 'webhook',
        actionResults: [
          { id: 'product-balance', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
          { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
          { id: 'tef', status: 'FAILED', errorCode: 'constructor' },
        ],
      }),
    },
    'FAILED at 12:00:30Z, reported by the webhook. product-balance, movement failed with TIMEOUT_ERROR: the maximum operation time was exceeded. tef failed with constructor: a code that Cosecha does not know. Its results, 2489 bytes, were collected at 12:00:32Z. Request it again, with a new key.',
  ],
  [
    'partial, and not collected yet',
    31,
    { record: extractionIn('PARTIAL'), settings: () => denied('lambda:GetFunctionConfiguration') },
    'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. The error codes come with its results. It is PARTIAL and open. What happens next depends on the settings, which could not be read.',
  ],
  [
    'partial, with results of an unexpected shape',
    1_300,
    { record: closedExtraction({ ...ranAs, ...collected(32), status: 'PARTIAL', settledBy: 'webhook' }) },
    'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. Its results name no error code of an action. Its results, 2489 bytes, were collected at 12:00:32Z. Request it again, with a new key.',
  ],
  [
    'rejected',
    1_300,
    { record: extractionIn('REJECTED') },
    'REJECTED at 12:00:30Z: the provider answered with HTTP 400. Nothing ran. Change the request. As it is, it cannot succeed.',
  ],
];
