import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoExtractionStore } from '#lib/aws/dynamo-extraction-store.ts';
import { inLineIndex } from '#lib/aws/dynamo-start-line.ts';
import { dynamoTaskStore } from '#lib/aws/dynamo-task-store.ts';
import { sendReconcileTo } from '#lib/aws/send-messages.ts';
import { extractionsClient } from '#lib/client/index.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { endWait } from '../../tools/acceptance/move-time.ts';
import { queueClient } from '../../tools/cli/aws/queues.ts';
import { dynamoBreakers } from '../../tools/cli/aws/stores.ts';
import { pauseCalls, resumeCalls } from '../../tools/cli/operate/change-holds.ts';
import { CliError } from '../../tools/cli/terminal/errors.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';
import { prepareRequest } from '../bench/benchmark-request.ts';
import { moveTimesIn } from '../support/aws/move-times.ts';
import { eventually } from '../support/eventually.ts';

/** `username`: for whom the provider has a plan. */
export type One = {
  readonly extractionId: string;
  readonly username: string;
  readonly goOn?: () => Promise<unknown>;
};

/** Requests extractions of a system, reads what it knows of them, and moves them on. */
export const extractionsOf = ({ api, provider, emulator: { client }, outputs }: LocalSystem) => {
  const {
    ExtractionsTableName = '',
    TasksTableName = '',
    ReconcileQueueUrl = '',
    StartLineTableName,
  } = outputs;
  const dynamo = new DynamoDBClient(client);
  const { get } = dynamoExtractionStore(dynamo, ExtractionsTableName);
  const tasks = dynamoTaskStore(dynamo, TasksTableName, () => new Date());
  const breakers = dynamoBreakers(dynamo, outputs.BreakersTableName ?? '');
  const breakerDeps = { now: () => new Date(), newVersion: randomUUID };
  const cosecha = extractionsClient({ apiUrl: api.base, fetch: api.fetch });

  const until = ({ extractionId }: One, fits: (record: Extraction) => unknown): Promise<Extraction> =>
    eventually(async () => {
      const record = await get(extractionId);
      if (record !== undefined && (await fits(record))) return record;
      throw new CliError(`${extractionId} is ${record?.status}, and does not fit ${fits}.`);
    });
  const tokenOf = async ({ taskId }: Extraction) => taskId && (await tasks.get(taskId))?.callbackToken;
  /** The client repeats what an update or a killed function leaves without an answer. */
  const request = async (username: string, byConsent: boolean, plan: Plan): Promise<One> => {
    const body = await prepareRequest(provider, { username, byConsent }, plan);
    return { extractionId: (await cosecha.requestExtraction(body)).extraction.extractionId, username };
  };

  return {
    until,
    provider,
    send: sendReconcileTo(queueClient({ client, isEmulated: true }), ReconcileQueueUrl),

    requestWith: (plan: Plan) => request(`upgrade-${randomUUID()}`, false, plan),
    requestByConsent: (target: string) => request(target, true, { durationMs: null }),

    /** Resolves once a delivery would wake the execution. */
    linked: (one: One) => until(one, tokenOf),

    endWebhookWait: async (one: One): Promise<void> => {
      const token = (await tokenOf(await until(one, tokenOf))) ?? '';
      await endWait(new SFNClient(client))(token);
    },

    pauseStarts: () =>
      pauseCalls(breakers, 'starts', { since: Date.now(), reason: 'an update' }, breakerDeps),
    resumeStarts: () => resumeCalls(breakers, 'starts', breakerDeps),

    /** Whether its execution waits in line. Resolves once it does, or has started. */
    waitsInLine: (one: One): Promise<boolean> =>
      eventually(async () => {
        const { Items = [] } = await dynamo.send(new QueryCommand(inLineIndex(StartLineTableName ?? '')));
        if (Items.some((item) => item.extractionId?.S === one.extractionId)) return true;
        if ((await get(one.extractionId))?.status !== 'REQUESTED') return false;
        throw new CliError(`${one.extractionId} is neither in line nor started.`);
      }),

    passDeadline: ({ extractionId }: One) =>
      moveTimesIn(dynamo, ExtractionsTableName, extractionId, { deadlineAt: new Date().toISOString() }),

    /** Sets the status of a record that nothing else writes now. */
    setStatus: async ({ extractionId }: One, status: string): Promise<void> => {
      const Item = marshall({ ...(await get(extractionId)), status });
      await dynamo.send(new PutItemCommand({ TableName: ExtractionsTableName, Item }));
    },
  };
};

export type Extractions = ReturnType<typeof extractionsOf>;
