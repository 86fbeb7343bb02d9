import { randomInt, randomUUID } from 'node:crypto';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../../lib/aws/step-functions.ts';
import type { PublicExtraction } from '../../../../lib/extraction/api/public-view.ts';
import { reconcileNow } from '../../../../tools/cli/operate/invoke-functions.ts';
import type { LocalSystem } from '../../../../tools/local/local-system.ts';
import { nationalIdFrom } from '../../../sandbox/consents/national-id.ts';
import type { Plan } from '../../../sandbox/plan.ts';
import { followExecution, type HistoryEvent } from '../../../support/follow-execution.ts';
import { type Entry, isPoll } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { bodyByCredentials } from '../../request-body.ts';
import type { Path, Sample } from './sample.ts';

export type LedgeredSystem = {
  readonly system: LocalSystem;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  /** A running extraction, which no sample is about. With it, processes are warmed up after each failed poll. */
  readonly held?: string;
};

/** A new user for each extraction, with the provider's plan for the path. */
type Order = { readonly body: object; readonly finish: () => Promise<unknown> };

/** A task that the benchmark ends. Its webhooks are delivered, or all five are lost. */
const planOf = (isLost: boolean): Plan => ({
  durationMs: null,
  ...(isLost ? { webhook: { drop: [1, 2, 3, 4, 5] } } : {}),
});

const byCredentials = async ({ system: { provider } }: LedgeredSystem, isLost: boolean): Promise<Order> => {
  const username = `user-${randomUUID()}`;
  await provider.setPlan(username, planOf(isLost));
  return {
    body: bodyByCredentials(username),
    finish: async () => {
      const [task] = await provider.tasks({ username });
      await provider.finish(task?.taskId ?? '');
    },
  };
};

/** A new national id for each extraction, so that each needs its own Task Token. */
const newPerson = (): string => {
  const digits = randomInt(10_000_000, 100_000_000);
  const ids = [...'0123456789K'].flatMap((digit) => nationalIdFrom(`${digits}-${digit}`) ?? []);
  return ids[0] ?? '';
};

const byConsent = async ({ system: { provider } }: LedgeredSystem): Promise<Order> => {
  const target = newPerson();
  await provider.setPlan(target, planOf(false));
  const { consentId } = await provider.createConsent({ owner: target, products: ['movement'] });
  return {
    body: { method: 'consent', product: 'movement', consentId, target },
    finish: async () => {
      const [task] = await provider.polledTasks({ username: target });
      await provider.finishPolled(task?.taskId ?? '');
    },
  };
};

const orderFor = (path: Path, ledgered: LedgeredSystem): Promise<Order> =>
  path === 'consent' ? byConsent(ledgered) : byCredentials(ledgered, path === 'polled');

/**
 * The emulator ends a process whose invocation failed, as each poll of a running task does. AWS keeps it. So the next
 * process is warmed up by reconciles of another extraction, which belong to no sample. The emulator keeps a process that
 * handled a message.
 */
const warm = async (
  { system: { emulator, outputs } }: LedgeredSystem,
  extractionId: string,
): Promise<void> => {
  const lambda = new LambdaClient(emulator.client);
  const name = outputs.ReconcileFunctionName ?? '';
  for (let left = 3; left > 0; left -= 1) {
    await reconcileNow(lambda, name, { trigger: 'operator', extractionId });
  }
};

/** Polls of an extraction without webhook before its task ends. The first may cost more than the others. */
const POLLS = 2;

/** Whether an invocation belongs to the sample. Through the API comes nothing else meanwhile. */
const isAbout = (entry: Entry, extractionId: string): boolean =>
  entry.extractionId === undefined || entry.extractionId === extractionId;

/** Waits until the task is linked, or was polled so often. */
const untilReady = async (
  path: Path,
  since: number,
  extractionId: string,
  ledgered: LedgeredSystem,
): Promise<void> => {
  const { ledger, signal } = ledgered;
  if (path === 'happy') {
    return ledger.atLeast(1, (one) => one.startedAt >= since && one.function === 'start-task', signal);
  }
  for (let polls = 1; polls <= POLLS; polls += 1) {
    await ledger.atLeast(
      polls,
      (one) => one.startedAt >= since && isPoll(one) && isAbout(one, extractionId),
      signal,
    );
    if (ledgered.held !== undefined) await warm(ledgered, ledgered.held);
  }
};

/** Waits for the invocation that stores the results, which may come after the machine has ended. */
const untilCollected = (extractionId: string, { ledger, signal }: LedgeredSystem): Promise<void> =>
  ledger.atLeast(
    1,
    (one) => one.extractionId === extractionId && one.calls.some(({ service }) => service === 's3'),
    signal,
  );

const answered = async <Answer>(response: Response, wanted: number): Promise<Answer> => {
  if (response.status === wanted) return (await response.json()) as Answer;
  throw new Error(`Answered ${response.status}, not ${wanted}: ${(await response.text()).slice(0, 500)}`);
};

const whole = async (events: AsyncIterable<HistoryEvent>): Promise<readonly HistoryEvent[]> => {
  const history: HistoryEvent[] = [];
  for await (const event of events) history.push(event);
  return history;
};

const request = async (
  { body }: Order,
  { system: { api }, signal }: LedgeredSystem,
): Promise<PublicExtraction> => {
  const answer = await api.fetch(`${api.base}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(body),
    signal,
  });
  return answered<PublicExtraction>(answer, 202);
};

/**
 * Starts an extraction whose webhooks are lost, and stops its machine, so that only the queue and an operator reconcile it.
 * `finish` ends its task, and waits until the queue has collected it.
 */
export const holdOpen = async (ledgered: LedgeredSystem) => {
  const { system, ledger, signal } = ledgered;
  const order = await byCredentials(ledgered, true);
  const { extractionId } = await request(order, ledgered);
  const started = (one: Entry) => one.function === 'start-task' && one.extractionId === extractionId;
  await ledger.atLeast(1, started, signal);
  const arn = executionArn(system.outputs.StateMachineArn ?? '', extractionId);
  await new SFNClient(system.emulator.client).send(new StopExecutionCommand({ executionArn: arn }));
  const finish = async (): Promise<void> => {
    await order.finish();
    await untilCollected(extractionId, ledgered);
  };
  return { extractionId, finish };
};

/** Runs one extraction alone, so that every call in the meantime belongs to it. */
export const extract = async (path: Path, ledgered: LedgeredSystem): Promise<Sample> => {
  const { system, ledger, signal } = ledgered;
  const { api, emulator, outputs } = system;
  const order = await orderFor(path, ledgered);
  const before = ledger.entries().length;

  const { extractionId } = await request(order, ledgered);
  await untilReady(path, ledger.entries().at(before)?.startedAt ?? 0, extractionId, ledgered);
  await order.finish();

  const arn = executionArn(outputs.StateMachineArn ?? '', extractionId);
  const history = await whole(followExecution(new SFNClient(emulator.client), arn, signal));
  await untilCollected(extractionId, ledgered);
  const read = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  const view = await answered<PublicExtraction>(read, 200);
  if (view.status !== 'COMPLETED' || view.results?.url === undefined || view.collectedAt === undefined) {
    throw new Error(`The ${path} path ended ${view.status}, settled by ${view.settledBy}.`);
  }
  const expected = path === 'happy' ? 'webhook' : 'reconcile';
  if (view.settledBy !== expected) {
    throw new Error(
      `The ${path} path was settled by ${view.settledBy}: something disturbed it; run it again.`,
    );
  }
  const download = await fetch(view.results.url, { signal });
  if (!download.ok) throw new Error(`The results were answered ${download.status}.`);
  await download.arrayBuffer();
  const entries = ledger.entries().slice(before);
  return { history, entries: entries.filter((entry) => isAbout(entry, extractionId)), downloads: 1 };
};
