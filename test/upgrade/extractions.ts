import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendTaskFailureCommand, SFNClient } from '@aws-sdk/client-sfn';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoExtractionStore } from '../../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../../lib/aws/dynamo-task-store.ts';
import { sendReconcileTo } from '../../lib/aws/send-reconcile.ts';
import { type ExtractionRequest, extractionsClient } from '../../lib/client/index.ts';
import type { Extraction } from '../../lib/extraction/record.ts';
import { queueClient } from '../../tools/cli/aws/queues.ts';
import { ExpectedFailure } from '../../tools/local/expected-failure.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';
import type { Plan } from '../sandbox/plan-schemas.ts';
import { moveTimesIn } from '../support/aws/move-times.ts';

/** Longer than the machine's wait for a webhook, after which it finds what the emulator has killed. */
const waitMs = 300_000;

/** `username`: for whom the provider has a plan. */
export type One = { readonly extractionId: string; readonly username: string };

/** Requests extractions of a system, reads what it knows of them, and moves them on. */
export const extractionsOf = ({ api, provider, emulator: { client }, outputs }: LocalSystem) => {
  const { ExtractionsTableName = '', TasksTableName = '', ReconcileQueueUrl = '' } = outputs;
  const dynamo = new DynamoDBClient(client);
  const { get } = dynamoExtractionStore(dynamo, ExtractionsTableName);
  const tasks = dynamoTaskStore(dynamo, TasksTableName, () => new Date());
  const cosecha = extractionsClient({ apiUrl: api.base, fetch: api.fetch });

  const until = async (
    one: One,
    what: string,
    fits: (record: Extraction) => unknown,
  ): Promise<Extraction> => {
    for (const deadline = Date.now() + waitMs; ; await delay(200)) {
      const record = await get(one.extractionId);
      if (record !== undefined && (await fits(record))) return record;
      if (Date.now() > deadline)
        throw new ExpectedFailure(
          `${one.extractionId} is ${record?.status} after ${waitMs} ms, not ${what}.`,
        );
    }
  };
  const tokenOf = async ({ taskId }: Extraction) => taskId && (await tasks.get(taskId))?.callbackToken;
  /** The client repeats what an update or a killed function leaves without an answer. */
  const request = async (username: string, body: ExtractionRequest): Promise<One> => {
    const { extraction } = await cosecha.requestExtraction(body);
    return { extractionId: extraction.extractionId, username };
  };

  return {
    ...{ until, provider },
    send: sendReconcileTo(queueClient({ client, isEmulated: true }), ReconcileQueueUrl),

    requestWith: async (plan: Plan): Promise<One> => {
      const username = `upgrade-${randomUUID()}`;
      await provider.setPlan(username, plan);
      const credentials = { mode: 'raw', value: { username, password: randomUUID() } } as const;
      return request(username, { entity: 'sandbox-bank', credentials, actions: [{ id: 'product-balance' }] });
    },

    requestByConsent: async (target: string): Promise<One> => {
      await provider.setPlan(target, { durationMs: null });
      const { consentId } = await provider.createConsent({ owner: target, products: ['movement'] });
      return request(target, { method: 'consent', product: 'movement', consentId, target });
    },

    /** Resolves once a delivery would wake the execution. */
    linked: (one: One) => until(one, 'linked to its task', tokenOf),

    /** As the timeout of the state StartTask would. */
    endWebhookWait: async (one: One): Promise<void> => {
      const taskToken = await tokenOf(await until(one, 'linked to its task', tokenOf));
      await new SFNClient(client).send(new SendTaskFailureCommand({ taskToken, error: 'States.Timeout' }));
    },

    passDeadline: ({ extractionId }: One) =>
      moveTimesIn(dynamo, ExtractionsTableName, extractionId, { deadlineAt: '2026-01-01T00:00:00.000Z' }),

    /** Sets the status of a record that nothing else writes now. */
    setStatus: async ({ extractionId }: One, status: string): Promise<void> => {
      const Item = marshall({ ...(await get(extractionId)), status });
      await dynamo.send(new PutItemCommand({ TableName: ExtractionsTableName, Item }));
    },
  };
};

export type Extractions = ReturnType<typeof extractionsOf>;
