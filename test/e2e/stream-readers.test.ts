/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { eventually } from '../support/eventually.ts';
import { httpServer } from '../support/programs/stub-servers.ts';
import { temporaryDirectory } from '../support/programs/temporary-directory.ts';
import { schemaViolations } from '../unit/docs/contract-schemas.ts';
import { aws } from './support/aws.ts';
import { extract, extractWith, requestFor, uniqueUsername } from './support/call-extractions.ts';
import { countInPython } from './support/count-in-python.ts';
import { deployApp } from './support/deploy-app.ts';
import { closed, recordsOf } from './support/records.ts';
import { cosecha, factsOf, startCosecha } from './support/run-cosecha.ts';

const deployed = inject('cosecha');
let outputs: Record<string, string>;

beforeAll(async () => {
  const file = join(import.meta.dirname, 'support', 'consumer-app.ts');
  outputs = await deployApp('e2e-consumer', { file });
});

type Total = { readonly extractions: number; readonly collected: number; readonly bytes: number };

/** A source that no other test has, so that its totals count only this test's extractions. */
const uniqueBank = (): string => `bank-${randomUUID()}`;

/** The totals of a source, by outcome, without those that are zero. */
const totalsOf = async (bank: string): Promise<Record<string, Total>> => {
  const days = [new Date(), new Date(Date.now() - 86_400_000)].map((day) => day.toISOString().slice(0, 10));
  const pages = await Promise.all(
    days.map((day) =>
      aws.dynamo.send(
        new QueryCommand({
          TableName: outputs.TotalsTableName,
          KeyConditionExpression: '#day = :day AND begins_with(sourceAndOutcome, :bank)',
          ExpressionAttributeNames: { '#day': 'day' },
          ExpressionAttributeValues: { ':day': { S: day }, ':bank': { S: `${bank}#` } },
          ConsistentRead: true,
        }),
      ),
    ),
  );
  const items = pages.flatMap(({ Items = [] }) => Items.map((item) => unmarshall(item)));
  return Object.fromEntries(
    items
      .map(
        ({ day: _, sourceAndOutcome, ...total }) => [sourceAndOutcome.split('#')[1], total as Total] as const,
      )
      .filter(([, { extractions, collected, bytes }]) => extractions !== 0 || collected !== 0 || bytes !== 0),
  );
};

const totalsBecome = (bank: string, totals: Record<string, Total>): Promise<void> =>
  eventually(async () => expect(await totalsOf(bank)).toEqual(totals));

/** Invokes the function with a batch, as Lambda does. Returns its answer, or `failed` with its error. */
const invoke = async (Records: readonly DynamoDBRecord[]): Promise<unknown> => {
  const { FunctionError, Payload } = await aws.lambda.send(
    new InvokeCommand({ FunctionName: outputs.CountFunctionName, Payload: JSON.stringify({ Records }) }),
  );
  const answer: unknown = JSON.parse(Payload?.transformToString() ?? 'null');
  return FunctionError === undefined ? answer : { failed: JSON.stringify(answer) };
};

const allProcessed = { batchItemFailures: [] };

const completed = async (bank: string) => {
  const extractionId = await extract(requestFor(uniqueUsername(), { entity: bank }));
  const { results } = await closed(extractionId);
  return { extractionId, bytes: results?.bytes ?? 0 };
};

describe('the example counts', () => {
  test('two completed extractions and a rejected one', async () => {
    const bank = uniqueBank();
    const refused: Plan = { startForever: { kind: 'answer', status: 400 } };
    const [one, two] = await Promise.all([
      completed(bank),
      completed(bank),
      extractWith(refused, { entity: bank }).then(({ extractionId }) => closed(extractionId)),
    ]);
    await totalsBecome(bank, {
      COMPLETED: { extractions: 2, collected: 2, bytes: one.bytes + two.bytes },
      REJECTED: { extractions: 1, collected: 0, bytes: 0 },
    });
  });

  test('each extraction once, when concurrent invocations get the same new records', async () => {
    const bank = uniqueBank();
    const extractionId = randomUUID();
    // Records of a real extraction under a new id, which the consumer has not seen.
    const real = await completed(uniqueBank());
    const records = recordsOf(real.extractionId).map(
      (record) =>
        JSON.parse(
          JSON.stringify(record)
            .replaceAll(real.extractionId, extractionId)
            .replaceAll(/"entity":\{"S":"[^"]*"\}/g, `"entity":{"S":"${bank}"}`),
        ) as DynamoDBRecord,
    );
    await Promise.all([1, 2, 3, 4].map(() => invoke(records)));
    // Conflicting invocations may fail. Then Lambda repeats them.
    await eventually(async () => expect(await invoke(records)).toEqual(allProcessed));
    expect(await totalsOf(bank)).toEqual({ COMPLETED: { extractions: 1, collected: 1, bytes: real.bytes } });
  });
});

type Event = { readonly kind: string; readonly extractionId: string; readonly eventId: string };

// One after the other: a listener stops at a record of another schema, as it neither skips nor understands it.
describe('one after the other', { concurrent: false }, () => {
  test('listen forwards each event signed, and prints those of one extraction again, as events and as batches', async () => {
    const state = join(temporaryDirectory(), 'state.json');
    // Extractions of other tests arrive too.
    const handler = await httpServer((response) => void response.writeHead(204).end());
    const listener = startCosecha(['listen', '--forward-to', handler.baseUrl, '--state', state]);
    // A full pipe would block it.
    listener.stdout.resume();
    // It prints this once no later event can be missed.
    await once(listener.stderr, 'data');
    const extractionId = await extract(requestFor(uniqueUsername()));
    const received = () =>
      handler.seen
        .map(({ headers, body }) => ({
          headers: headers as Record<string, string>,
          body,
          event: JSON.parse(body) as Event,
        }))
        .filter(({ event }) => event.extractionId === extractionId);
    await eventually(() =>
      expect(received().map(({ event }) => event.kind)).toEqual(['settled', 'collected']),
    );
    const ended = once(listener, 'close');
    listener.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    const { secret } = JSON.parse(await readFile(state, 'utf8')) as { readonly secret: string };
    for (const { body, headers, event } of received()) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(event);
      expect(headers['webhook-id']).toBe(event.eventId);
    }

    const eventIds = received().map(({ event }) => event.eventId);
    const replayed = await cosecha(['listen', '--print', '--replay', extractionId, '--json']);
    expect(replayed.code).toBe(0);
    expect(factsOf(replayed).map(({ eventId }) => eventId)).toEqual(eventIds);
    const raw = factsOf(await cosecha(['listen', '--raw', '--print', '--replay', extractionId, '--json']));
    const batches = raw.map(({ Records }) => Records as readonly DynamoDBRecord[]);
    expect(batches.flat().map(({ eventID }) => eventID)).toEqual(eventIds);
    for (const record of batches.flat()) expect(schemaViolations('stream-record.json', record)).toEqual([]);
    expect(await countInPython(batches)).toMatchObject({ final: 1 });
  });

  test('a record of another schema is sent to the failure destination, and the records after it are counted', async () => {
    const TableName = deployed.outputs.ExtractionsTableName;
    const extractionId = randomUUID();
    const Key = { extractionId: { S: extractionId } };
    await aws.dynamo.send(
      new PutItemCommand({
        TableName,
        Item: {
          ...Key,
          schemaVersion: { N: '2' },
          entity: { S: uniqueBank() },
          settledAt: { S: new Date().toISOString() },
        },
      }),
    );
    const bank = uniqueBank();
    const { bytes } = await completed(bank);

    const failure = await eventually(async () => {
      const { Messages: [message] = [] } = await aws.queues.send(
        new ReceiveMessageCommand({ QueueUrl: outputs.FailuresQueueUrl, WaitTimeSeconds: 1 }),
      );
      if (message?.Body === undefined) throw new Error('The queue is empty.');
      return message.Body;
    });
    expect(JSON.parse(failure)).toMatchObject({ DDBStreamBatchInfo: { batchSize: 1 } });
    await totalsBecome(bank, { COMPLETED: { extractions: 1, collected: 1, bytes } });
    await aws.dynamo.send(new DeleteItemCommand({ TableName, Key }));
    expect(await aws.dynamo.send(new GetItemCommand({ TableName, Key }))).not.toHaveProperty('Item');
  });
});
