import { expect, test } from 'vitest';
import { logMessages } from '#lib/observability/log-messages.ts';
import { explainExtraction } from '../../../../../tools/cli/explain/explain-extraction.ts';
import type { Hold } from '../../../../../tools/cli/explain/sources.ts';
import { commandTextOf } from '../../../../../tools/cli/terminal/command-text.ts';
import { type Choose, runChain } from '../../../../enumeration/decision-chain.ts';
import { allRecords, limitsOf } from '../../../../enumeration/records.ts';
import { denied } from '../../../../support/browser/console-fixtures.ts';
import {
  at,
  closedExtraction,
  consentIn,
  extractionIn,
  id,
  iso,
} from '../../../../support/data/extraction-fixtures.ts';
import {
  bounded,
  event,
  failed,
  inReconcile,
  inStartTask,
  type KnownValues,
  linkedTask,
  logLine,
  sourcesWith,
} from './story-fixtures.ts';

type Situation = KnownValues & { readonly headline: string };

/** An extraction that is stuck or odd, with what the sources know so many seconds after the request. */
const explains = (name: string, seconds: number, { headline, ...known }: Situation): void =>
  test(`${name} is explained`, async () => {
    const story = await explainExtraction(sourcesWith(known), {
      extractionId: id,
      now: at(seconds),
      command: commandTextOf(),
    });
    expect(story?.headline).toBe(headline);
  });

const interrupted = { status: 'UNCONFIRMED', reason: 'start-interrupted' } as const;
const otherId = '0190a0b0-0000-7000-8000-000000000002';
const ranAs = { attemptId: 'attempt-1', startingAt: iso(1), startedAt: iso(2), taskId: 'task-1' };
const results = { bucket: 'b', key: `${id}/x.json`, bytes: 2_489, sha256: 'x' };
const collected = (seconds: number) => ({ ...ranAs, collectedAt: iso(seconds), results });
const byWebhook = { status: 'COMPLETED', settledBy: 'webhook' } as const;
const polled = (seconds: number) => ({ settledAt: iso(seconds), settledBy: 'reconcile' }) as const;

const by = 'arn:aws:sts::111122223333:assumed-role/Operator/ana';
const reason = 'maintenance at the provider';
const startsPaused: Hold = { kind: 'paused', calls: 'starts', since: iso(-600), reason, by };
const readsPaused: Hold = { kind: 'paused', calls: 'reads', since: iso(500), reason: 'quota' };

const reconciled = (seconds: number, status: string, explanation: string) =>
  bounded(logLine(seconds, 'reconcile-extraction', 'Reconcile finished.', { status, explanation }));

explains('waiting for the webhook', 20, {
  record: extractionIn('RUNNING'),
  task: linkedTask(),
  execution: inStartTask(),
  headline:
    "Waits for the provider's webhook until 12:10:01Z; then the machine polls every 2 min until 14:00:00Z.",
});

explains('busy', 20, {
  record: extractionIn('REQUESTED'),
  execution: inStartTask(
    failed(2, 'ProviderBusy', 'The start can be retried.'),
    event(3, 'TaskScheduled'),
    failed(4, 'ProviderBusy', 'http-429'),
    event(7, 'TaskScheduled'),
    failed(16, 'ProviderBusy', 'quota-reached'),
  ),
  headline:
    'Waits to be started: at try 3, the monthly quota of the provider was reached. The machine tries again by 12:00:24Z. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
});

explains('paused', 20, {
  record: extractionIn('REQUESTED'),
  execution: inStartTask(failed(2, 'ProviderPaused'), event(4, 'TaskScheduled')),
  holds: [startsPaused],
  headline:
    'Starts have been paused since 11:50:00Z by ana: maintenance at the provider. The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.',
});

explains('its reads paused', 640, {
  record: extractionIn('RUNNING'),
  task: linkedTask(),
  execution: inReconcile(failed(602, 'NotYet', 'provider-paused')),
  holds: [{ ...readsPaused, calls: 'starts' }, readsPaused],
  headline:
    'No webhook was recorded by 12:10:01Z, so the machine polls: 1 poll so far, the next by 12:10:07Z. Without a final status by 14:00:00Z it ends TIMED_OUT. Reads have been paused since 12:08:20Z: quota. Meanwhile nothing is read.',
});

explains('running, and read by the slow queue', 900, {
  record: consentIn('RUNNING', { readsSlowly: true }),
  headline:
    'Runs at the provider, and is polled. Without a final status by 14:00:00Z it ends TIMED_OUT. Its last read failed or took too long, so that the slow queue reads it, until a read is answered.',
});

explains('hung start', 100, {
  record: extractionIn('STARTING'),
  headline:
    "The start is stale since 12:01:01Z: start-task has recorded no answer to its start call of 12:00:01Z. Now the machine's next try or the reconcile after 12:03:01Z ends it UNCONFIRMED, as a task may exist.",
});

explains('unlinked task', 20, {
  record: extractionIn('RUNNING'),
  headline:
    "Task task-1 runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after 12:10:01Z. Without a final status by 14:00:00Z it ends TIMED_OUT.",
});

explains('webhook lost', 640, {
  record: extractionIn('RUNNING'),
  task: linkedTask(),
  execution: inReconcile(failed(602, 'NotYet'), event(605, 'TaskScheduled'), failed(606, 'NotYet')),
  headline:
    'No webhook was recorded by 12:10:01Z, so the machine polls: 2 polls so far, the next by 12:10:16Z. Without a final status by 14:00:00Z it ends TIMED_OUT.',
});

explains('webhook lost, and found by polling', 9_000, {
  record: closedExtraction({ status: 'COMPLETED', ...polled(615), ...collected(616) }),
  task: linkedTask(),
  headline:
    'COMPLETED at 12:10:15Z, found by polling: no webhook was recorded. Its results, 2489 bytes, were collected at 12:10:16Z.',
});

const refused = (...seconds: readonly number[]) => ({
  items: seconds.map((second) => ({ at: iso(second), verifiedBy: undefined })),
  complete: true,
});

explains('webhooks refused, of any task, and found by polling', 9_000, {
  record: closedExtraction({ status: 'COMPLETED', ...polled(615), ...collected(616) }),
  task: linkedTask(),
  deliveries: refused(30, 60, 90),
  headline:
    'COMPLETED at 12:10:15Z, found by polling: no webhook was accepted. Its results, 2489 bytes, were collected at 12:10:16Z. 3 deliveries were refused in this time, as no key fits: of which task is not known.',
});

explains('a webhook refused while it runs', 640, {
  record: extractionIn('RUNNING', { startingAt: iso(1) }),
  task: linkedTask(),
  execution: inReconcile(failed(602, 'NotYet')),
  deliveries: refused(30),
  headline:
    'No webhook had ended its wait by 12:10:01Z, so the machine polls: 1 poll so far, the next by 12:10:07Z. Without a final status by 14:00:00Z it ends TIMED_OUT. 1 delivery was refused in this time, as no key fits: of which task is not known.',
});

explains('found by polling, and the item in Tasks has expired', 9_000, {
  record: closedExtraction({ status: 'COMPLETED', ...polled(615), ...collected(616) }),
  headline: 'COMPLETED at 12:10:15Z, found by polling. Its results, 2489 bytes, were collected at 12:10:16Z.',
});

explains('dead attempt', 300, {
  record: closedExtraction({ ...interrupted, startingAt: iso(1), settledAt: iso(92) }),
  logs: bounded(logLine(3, 'start-task', 'The provider accepted the task.', { taskId: 'task-9' })),
  headline:
    'UNCONFIRMED at 12:01:32Z: start-task ended between the start call of 12:00:01Z and the record of its answer, so a task may exist. The log of start-task names task task-9, which the record does not have. It is never sent again. Ask the provider whether the task runs before you request it again.',
});

explains('sweep disabled', 9_000, {
  record: extractionIn('RUNNING'),
  task: linkedTask(),
  sweep: { enabled: false, everyMinutes: 5 },
  headline: `Due since 14:15:00Z, as the sweep is disabled. Enable its rule, or run \`npm exec --no -- cosecha reconcile ${id}\`. No final status is known by the deadline, 14:00:00Z. The next reconcile reads it once more, and ends it TIMED_OUT if it still runs.`,
});

explains('results too large', 700, {
  record: extractionIn('RUNNING', { oversizedAt: iso(602) }),
  task: linkedTask(),
  headline:
    'The results were too large to be read at 12:10:02Z, and with them the final status. Only a webhook can still report it. Without a final status by 14:00:00Z it ends TIMED_OUT.',
});

explains('results too large, and not closed yet', 700, {
  record: extractionIn('COMPLETED', { dueAt: iso(900), oversizedAt: iso(602) }),
  task: linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
  headline:
    'COMPLETED at 12:00:30Z, reported by the webhook. Its results are not collected yet. They were too large to be read, so the reconcile after 12:15:00Z closes it without them.',
});

explains('by consent, and the process of the last read ended', 9_000, {
  record: consentIn('RUNNING', { lastReadBegunAt: iso(7_300) }),
  headline:
    'No final status is known by the deadline, 14:00:00Z. The next reconcile ends it TIMED_OUT. The next reconcile does not read it, as the process of its last read ended.',
});

explains('by consent, and the provider wants no call for a while', 700, {
  record: consentIn('RUNNING', { dueAt: iso(800), notBefore: iso(1_500) }),
  headline:
    'Runs at the provider. Without a final status by 14:00:00Z it ends TIMED_OUT. The provider asked for no call before 12:25:00Z. Until then nothing is read.',
});

explains('running without the id of its task', 700, {
  record: (({ taskId: _taskId, ...record }) => record)(extractionIn('RUNNING')),
  headline:
    'The record lacks what an open one in its status has. So the reconcile after 14:15:00Z ends it UNCONFIRMED.',
});

explains('results too large, and closed without them', 700, {
  record: closedExtraction({ ...byWebhook, collectionError: 'results-too-large' }),
  headline:
    'COMPLETED at 12:00:30Z, reported by the webhook. Its results were not collected (results-too-large): the results exceed `resultsMaxBytes`. Change the request. As it is, it cannot succeed.',
});

explains('late correction', 9_000, {
  record: closedExtraction({ ...byWebhook, settledAt: iso(8_000), ...collected(8_001) }),
  logs: bounded(logLine(8_000, 'receive-webhook', 'A status was corrected.', { metric: 'Corrected' })),
  headline:
    'COMPLETED at 14:13:20Z, reported by the webhook. This is a correction: it replaced TIMED_OUT, as the deadline was 14:00:00Z. Its results, 2489 bytes, were collected at 14:13:21Z.',
});

explains('timed out after a read', 9_000, {
  record: extractionIn('TIMED_OUT', { dueAt: iso(9_100) }),
  task: linkedTask(),
  logs: bounded(
    logLine(3_600, 'reconcile-extraction', 'Reconcile finished.', {
      status: 'RUNNING',
      explanation: 'ProviderBusy',
    }),
    ...reconciled(7_200, 'TIMED_OUT', 'still-running').items,
  ),
  headline:
    'TIMED_OUT at 14:00:00Z: no final status was known by the deadline, 14:00:00Z: the provider reported that the task runs. Until 2026-03-02 14:00:00Z a webhook or a read can still correct it. Next, the reconcile after 14:31:40Z reads the provider.',
});

explains('reads paused beyond its grace', 100_000, {
  record: extractionIn('TIMED_OUT', { dueAt: iso(100_100) }),
  task: linkedTask(),
  holds: [readsPaused],
  logs: reconciled(7_200, 'TIMED_OUT', 'reads-paused'),
  headline:
    'TIMED_OUT at 2026-03-01 14:00:00Z: no final status was known by the deadline, 2026-03-01 14:00:00Z: no read was made, as an operator had paused reads. Its grace ended at 14:00:00Z. Reads have been paused since 2026-03-01 12:08:20Z: quota. Once they are resumed, it is read once more and closes.',
});

explains('by consent, and the sealed target of its request is lost', 700, {
  record: consentIn('RUNNING', { dueAt: iso(800) }),
  execution: inStartTask(event(3, 'ExecutionSucceeded')),
  logs: reconciled(600, 'RUNNING', 'request-data-gone'),
  headline:
    'The reconcile queue continues, as there is no webhook under a consent. Next, the reconcile after 12:13:20Z checks what is due. Without a final status by 14:00:00Z it ends TIMED_OUT. It is not read any more, as the sealed data of its request are gone.',
});

explains('by consent, and the logs cannot be read', 700, {
  record: consentIn('RUNNING'),
  logs: () => denied('logs:FilterLogEvents'),
  headline: 'Runs at the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
});

explains('never started, as its request was lost, under an execution that was stopped', 1_300, {
  record: extractionIn('NOT_STARTED', { reason: 'request-data-gone' }),
  execution: inStartTask(event(60, 'ExecutionAborted')),
  headline:
    'NOT_STARTED at 12:00:30Z: the sealed data of its request were gone, without which nothing can be started. Nothing ran. Request it again, with a new key.',
});

explains('never started, for a cause that the record and the execution have', 1_300, {
  record: extractionIn('NOT_STARTED', { reason: 'start-window-over', lastProblem: 'login-http-401' }),
  execution: inStartTask(failed(16, 'ProviderUnauthorized', 'login-http-401')),
  headline:
    'NOT_STARTED at 12:00:30Z: the start window was over. At the last try, number 1 at 12:00:01Z, the provider gave no token: the provider answered with HTTP 401. Nothing ran. The operator of Cosecha has to act. Requesting it again would not help.',
});

explains('restored', 9_000, {
  record: extractionIn('UNCONFIRMED', { reason: 'restored', settledAt: iso(8_000) }),
  headline:
    'UNCONFIRMED at 14:13:20Z: it was restored from a backup in which its start was not confirmed. It may have been started since, so it is never started again. Ask the provider whether the task runs before you request it again.',
});

explains('erased', 9_000, {
  execution: inStartTask(),
  logs: bounded(logLine(8_000, 'erase-extractions', logMessages.erased)),
  headline: 'The record was erased at 14:13:20Z.',
});

explains('gone, without a log that says why', 9_000, {
  execution: inStartTask(),
  headline:
    'There is no record: it was erased, or its retention is over. Its execution started at 12:00:00Z.',
});

explains('foreign task', 300, {
  record: closedExtraction({ status: 'UNCONFIRMED', reason: 'task-linked-elsewhere', ...ranAs }),
  task: linkedTask({ extractionId: otherId }),
  headline: `UNCONFIRMED at 12:00:30Z: the provider answered the start call of 12:00:01Z with task task-1, which belongs to extraction ${otherId}. Nothing of that task was used. Report it to the provider, as it may be a leak. The operator of Cosecha has to act. Requesting it again would not help.`,
});

explains('results that cannot be collected yet', 700, {
  record: extractionIn('COMPLETED', { dueAt: iso(900) }),
  task: linkedTask({ taskStatus: 'COMPLETED', notifiedAt: iso(30) }),
  logs: bounded(logLine(600, 'sweep-extractions', 'The task could not be read.', { failure: {} })),
  headline:
    'COMPLETED at 12:00:30Z, reported by the webhook. Its results are not collected yet. The last try failed at 12:10:00Z: The task could not be read. They are read again until 2026-03-02 12:00:30Z, next by the reconcile after 12:15:00Z; then it closes without them.',
});

const codes = { 'product-balance': 'TIMEOUT_ERROR', movement: 'TIMEOUT_ERROR', tef: 'constructor' };
const actionResults = Object.entries(codes).map(([id, errorCode]) => ({ id, status: 'FAILED', errorCode }));

explains('failed, for two codes, one of which is new', 1_300, {
  record: closedExtraction({ ...byWebhook, ...collected(32), status: 'FAILED', actionResults }),
  headline:
    'FAILED at 12:00:30Z, reported by the webhook. product-balance, movement failed with TIMEOUT_ERROR: the maximum operation time was exceeded. tef failed with constructor: a code that Cosecha does not know. Its results, 2489 bytes, were collected at 12:00:32Z. Request it again, with a new key.',
});

explains('partial, and not collected yet', 31, {
  record: extractionIn('PARTIAL'),
  settings: () => denied('lambda:GetFunctionConfiguration'),
  headline:
    'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. The error codes come with its results. It is PARTIAL and open. What happens next depends on the settings, which could not be read.',
});

explains('partial, with results of an unexpected shape', 1_300, {
  record: closedExtraction({ ...collected(32), status: 'PARTIAL', settledBy: 'webhook' }),
  headline:
    'PARTIAL at 12:00:30Z (some of its actions failed), reported by the webhook. Its results name no error code of an action. Its results, 2489 bytes, were collected at 12:00:32Z. Request it again, with a new key.',
});

explains('rejected', 1_300, {
  record: extractionIn('REJECTED'),
  headline:
    'REJECTED at 12:00:30Z: the provider answered with HTTP 400. Nothing ran. Change the request. As it is, it cannot succeed.',
});

/** The first answer to each effect: it still runs, and its task is its own. */
const way: Choose['way'] = (answers) => (answers === 5 ? 1 : 0);

test.each([true, false])(
  'what the next reconcile is said to end or read, it does; linked: %s',
  async (isLinked) => {
    const open = (await allRecords()).filter(({ dueShard }) => dueShard !== undefined);
    for (const record of open) {
      for (const limit of limitsOf(record)) {
        const now = new Date(Math.max(Date.parse(limit), Date.parse(record.dueAt ?? '')) + 30_000);
        const sources = sourcesWith({ record, ...(isLinked ? { task: linkedTask() } : {}) });
        const { headline = '' } =
          (await explainExtraction(sources, { extractionId: id, now, command: commandTextOf() })) ?? {};
        const queue = { kind: 'queue', cause: 'sweep', isSlow: true } as const;
        const chain = await runChain(record, queue, now, { way, passes: false, changes: false });
        const said = /reconcile[^.]* ends (?:it|this one) ([A-Z_]+)|It ends ([A-Z_]+), by the reconcile/.exec(
          headline,
        );
        const isRead = chain?.happened.some((one) => one.kind === 'learn' && /read$/.test(one.effect.kind));
        expect({
          headline,
          status: chain?.end.record?.status,
          isRead,
        }).toEqual({
          headline,
          status: said?.[1] ?? said?.[2] ?? record.status,
          isRead: /reads (?:it|the provider)|read again until|is polled/.test(headline),
        });
      }
    }
    expect(open.length).toBeGreaterThan(20);
  },
);
