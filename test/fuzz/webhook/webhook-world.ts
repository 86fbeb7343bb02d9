import '../quiet-log.ts';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpHandler } from '#lib/aws/wiring/http-handler.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { recordDelivery } from '#lib/extraction/record-delivery.ts';
import type { Task, WakeOutcome } from '#lib/extraction/store.ts';
import { cacheSigningKeys } from '#lib/webhook/cache-signing-keys.ts';
import { explainMismatches } from '#lib/webhook/explain-mismatch.ts';
import { answerDelivery, type DeliveryEvent } from '#lib/webhook/receive-delivery.ts';
import { at, timings } from '../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../support/stores/memory-extraction-store.ts';
import { memoryMarks } from '../../support/stores/memory-refused-credentials-store.ts';
import { memoryTaskStore } from '../../support/stores/memory-task-store.ts';
import type { StoreFaults } from '../../support/stores/store-fault.ts';

export type Answer = APIGatewayProxyStructuredResultV2;

export type WorldSetup = {
  /** What the secret holds: the current signing key and, after a rotation, the one before. */
  readonly keys: readonly string[];
  readonly extractions: readonly Extraction[];
  readonly tasks: readonly Task[];
  /** The answer of Step Functions to a callback token at its first use. */
  readonly wake: WakeOutcome;
};

export type WorldHooks = {
  readonly stores?: StoreFaults;
  readonly fetchKeys?: () => Promise<readonly string[]>;
  /** Before Step Functions takes a token, and after: a throw is an answer that never came. */
  readonly beforeWake?: () => void;
  readonly afterWake?: () => void;
  readonly now?: () => Date;
};

/** When deliveries arrive by default: after every time in the records. */
export const deliveredAt = at(7_300);

/**
 * The webhook from the API Gateway event to the answer, over stores in memory: everything that
 * `functions/receive-webhook.ts` composes, with the AWS clients replaced and nothing else.
 */
export const webhookWorld = (setup: WorldSetup, hooks: WorldHooks = {}) => {
  const now = hooks.now ?? (() => deliveredAt);
  const extractions = memoryExtractionStore(hooks.stores);
  const tasks = memoryTaskStore(hooks.stores);
  for (const record of setup.extractions) extractions.items.set(record.extractionId, record);
  for (const item of setup.tasks) tasks.items.set(item.taskId, item);
  const { counted, telemetry } = memoryTelemetry();
  /** What the log has of each delivery. */
  const logged: { readonly reason?: string; readonly recorded?: unknown }[] = [];
  const sent: string[] = [];
  const woken: string[] = [];

  const wake = async (callbackToken: string): Promise<WakeOutcome> => {
    hooks.beforeWake?.();
    // A token is good for one answer; a second one finds that the task is over.
    const outcome = woken.includes(callbackToken) && setup.wake === 'woken' ? 'gone' : setup.wake;
    woken.push(callbackToken);
    hooks.afterWake?.();
    return outcome;
  };
  const deps = {
    keys: cacheSigningKeys({
      fetchKeys: async () => {
        const texts = await (hooks.fetchKeys?.() ?? setup.keys);
        return texts.map((text, index) => ({ text, version: `version-${index}` }));
      },
      refreshEveryMs: 15_000,
      now,
    }),
    explainMismatch: explainMismatches({ ...telemetry, log: () => undefined }, now),
    record: (delivery: Parameters<typeof recordDelivery>[0]) =>
      recordDelivery(delivery, {
        extractions,
        tasks,
        ...memoryMarks(),
        send: async ({ extractionId }) => void sent.push(extractionId),
        wake,
        now,
        timings,
        telemetry,
      }),
    telemetry: {
      ...telemetry,
      log: (_message: string, facts: (typeof logged)[number] = {}) => void logged.push(facts),
    },
  };
  const handler = httpHandler((event: DeliveryEvent) => answerDelivery(event, deps));

  return {
    deliver: (event: DeliveryEvent): Promise<Answer> => handler(event, {} as Context),
    /** Every item as it stands. The stores replace items and never change one, so the map alone is copied. */
    state: (): State => ({ extractions: new Map(extractions.items), tasks: new Map(tasks.items) }),
    counted,
    logged,
    sent,
    woken,
  };
};

export type State = {
  readonly extractions: Map<string, Extraction>;
  readonly tasks: Map<string, Task>;
};

/** The records without `dueAt`, which may be earlier although nothing else differs. */
export const withoutDueAt = ({ extractions, tasks }: State) => ({
  extractions: new Map([...extractions].map(([id, { dueAt: _dueAt, ...record }]) => [id, record] as const)),
  tasks,
});
