import { randomUUID } from 'node:crypto';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../../lib/aws/step-functions.ts';
import type { ExtractionRequest } from '../../../../lib/client/request-extraction.ts';
import type { PublicExtraction } from '../../../../lib/extraction/api/public-view.ts';
import { newNationalId } from '../../../../sandbox/consents/national-id.ts';
import type { Plan } from '../../../../sandbox/plan-schemas.ts';
import { reconcileNow } from '../../../../tools/cli/operate/invoke-functions.ts';
import type { LocalSystem } from '../../../../tools/local/local-system.ts';
import { type HistoryEvent, wholeHistory } from '../../../support/aws/follow-execution.ts';
import { bodyByCredentials, request } from '../../benchmark-request.ts';
import { type Entry, isPoll } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** The measured paths through the system. */
export type Path = 'happy' | 'polled' | 'consent';

/** One extraction, from its request until its caller has the results. */
export type Sample = { readonly history: readonly HistoryEvent[]; readonly entries: readonly Entry[] };

export type LedgeredSystem = {
  readonly system: LocalSystem;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  /** A running extraction, which no sample is about. With it, processes are warmed up after each failed poll. */
  readonly held?: string;
};

/** A new user for each extraction, with the provider's plan for the path. */
type Order = { readonly body: ExtractionRequest; readonly finish: () => Promise<unknown> };

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

const byConsent = async ({ system: { provider } }: LedgeredSystem): Promise<Order> => {
  // Its own for each extraction, so that each needs its own Task Token.
  const target = newNationalId();
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

/** Waits for so many invocations for this extraction that fit. */
const untilInvoked = (
  { ledger, signal }: LedgeredSystem,
  extractionId: string,
  fits: (entry: Entry) => boolean,
  count = 1,
): Promise<void> => ledger.atLeast(count, (one) => one.extractionId === extractionId && fits(one), signal);

const isStart = (entry: Entry): boolean => entry.function === 'start-task';

/** The invocation that stores the results may come after the machine has ended. */
const collects = ({ calls }: Entry): boolean => calls.some(({ service }) => service === 's3');

/** Waits until the task is linked, or was polled so often. */
const untilReady = async (path: Path, extractionId: string, ledgered: LedgeredSystem): Promise<void> => {
  if (path === 'happy') return untilInvoked(ledgered, extractionId, isStart);
  for (let polls = 1; polls <= POLLS; polls += 1) {
    await untilInvoked(ledgered, extractionId, isPoll, polls);
    if (ledgered.held !== undefined) await warm(ledgered, ledgered.held);
  }
};

/**
 * Starts an extraction whose webhooks are lost, and stops its machine, so that only the queue and an operator reconcile it.
 * `finish` ends its task, and waits until the queue has collected it.
 */
export const holdOpen = async (ledgered: LedgeredSystem) => {
  const { system, signal } = ledgered;
  const order = await byCredentials(ledgered, true);
  const extractionId = await request(system.api, order.body, signal);
  await untilInvoked(ledgered, extractionId, isStart);
  const arn = executionArn(system.outputs.StateMachineArn ?? '', extractionId);
  await new SFNClient(system.emulator.client).send(new StopExecutionCommand({ executionArn: arn }));
  const finish = async (): Promise<void> => {
    await order.finish();
    await untilInvoked(ledgered, extractionId, collects);
  };
  return { extractionId, finish };
};

/** Runs one extraction alone, so that every call in the meantime belongs to it. */
export const extract = async (path: Path, ledgered: LedgeredSystem): Promise<Sample> => {
  const { system, ledger, signal } = ledgered;
  const { api, emulator, outputs } = system;
  const order = await orderFor(path, ledgered);
  const before = ledger.entries().length;

  const extractionId = await request(api, order.body, signal);
  await untilReady(path, extractionId, ledgered);
  await order.finish();

  const arn = executionArn(outputs.StateMachineArn ?? '', extractionId);
  const history = await wholeHistory(new SFNClient(emulator.client), arn, signal);
  await untilInvoked(ledgered, extractionId, collects);
  const read = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  const view = (await read.json()) as PublicExtraction;
  const settledBy = path === 'happy' ? 'webhook' : 'reconcile';
  if (view.status !== 'COMPLETED' || view.settledBy !== settledBy || view.results === undefined) {
    throw new Error(`The ${path} path ended ${view.status}, settled by ${view.settledBy}: run it again.`);
  }
  // Through the API comes nothing else meanwhile.
  const isOfSample = (entry: Entry) => [undefined, extractionId].includes(entry.extractionId);
  return { history, entries: ledger.entries().slice(before).filter(isOfSample) };
};
