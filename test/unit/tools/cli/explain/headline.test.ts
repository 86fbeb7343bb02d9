import { expect, test } from 'vitest';
import { denied } from '#support/browser/console-fixtures.ts';
import { at, closedExtraction, consentIn, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import { explainExtraction } from '#tools/cli/explain/explain-extraction.ts';
import type { Hold } from '#tools/cli/explain/sources.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';
import { type Choose, runChain } from '../../../../enumeration/decision-chain.ts';
import { allRecords, limitsOf } from '../../../../enumeration/records.ts';
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

/**
 * One extraction for each rule that joins sentences, what the simulation cannot state, and what is left out where it is unknown.
 * test/simulation/explain proves every fact.
 */
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
  execution: inStartTask(failed(2, 'ProviderUnreachable'), event(4, 'TaskScheduled')),
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

explains('unlinked task', 20, {
  record: extractionIn('RUNNING'),
  headline:
    "Task task-1 runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after 12:10:01Z. Without a final status by 14:00:00Z it ends TIMED_OUT.",
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

explains('running without the id of its task', 700, {
  record: (({ taskId: _taskId, ...record }) => record)(extractionIn('RUNNING')),
  headline:
    'The record lacks what an open one in its status has. So the reconcile after 14:15:00Z ends it UNCONFIRMED.',
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

explains('by consent, and the logs cannot be read', 700, {
  record: consentIn('RUNNING'),
  logs: () => denied('logs:FilterLogEvents'),
  headline: 'Runs at the provider. Without a final status by 14:00:00Z it ends TIMED_OUT.',
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

explains('gone, without a log that says why', 9_000, {
  execution: inStartTask(),
  headline:
    'There is no record: it was erased, or its retention is over. Its execution started at 12:00:00Z.',
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
