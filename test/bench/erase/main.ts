/**
 * `npm run bench:erase`: how long the erasure of one extraction takes alone, and beside another caller's erasure of 1,000, on an emulator.
 * The erase queue is a fair queue on AWS, and not on an emulator, so that this is its worst case. `-- --records 100` erases fewer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoErasureStore } from '#lib/aws/dynamo-erasure-store.ts';
import { sendEraseTo } from '#lib/aws/send-messages.ts';
import { limitParallelCalls } from '../../../tools/cli/operate/limit-parallel-calls.ts';
import { startLocalSystem } from '../../../tools/local/local-system.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { createRunOutput } from '../../../tools/local/run-output.ts';
import { closedExtraction, extractionIn } from '../../support/data/extraction-fixtures.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import { quantile } from '../quantile.ts';

const { values } = parseArgs({ options: { records: { type: 'string', default: '1000' } } });
const many = Number(values.records);

/** Erasures of one extraction, one after another. Those beside the other caller's begin with its first search. */
const singles = 30;

const callerOf = (name: string): string => `arn:aws:sts::111122223333:assumed-role/${name}/session`;

const inSeconds = (times: readonly number[]): string =>
  [0.5, 0.99].map((q) => `p${q * 100} ${(quantile(times, q) / 1_000).toFixed(1)} s`).join(', ');

await runUntilStopped(async ({ stop, atEnd }) => {
  const show = createRunOutput(process.stderr, Date.now);
  const directory = await createRunDirectory('erase', new Date());
  const { emulator, outputs } = await startLocalSystem({ directory, show, atEnd, signal: stop }).finally(() =>
    show.rest(),
  );
  const dynamo = new DynamoDBClient(emulator.client);
  const { ExtractionsTableName: TableName, ErasuresTableName = '', EraseQueueUrl = '' } = outputs;
  const erasures = dynamoErasureStore(dynamo, ErasuresTableName);
  const send = sendEraseTo(new SQSClient(emulator.client), EraseQueueUrl);
  const atOnce = limitParallelCalls(16);

  const putClosed = async (requestedBy: string, reference: string): Promise<string> => {
    const extractionId = randomUUID();
    const ids = { extractionId, requestId: randomUUID(), requestedBy, reference };
    const record = closedExtraction({ ...extractionIn('COMPLETED', ids), expiresAt: 2 ** 33 });
    const Item = marshall(record, { removeUndefinedValues: true });
    await dynamo.send(new PutItemCommand({ TableName, Item }));
    return extractionId;
  };
  const ask = async (
    askedBy: string,
    scope: { readonly reference: string } | { readonly extractionId: string },
  ) => {
    const erasureId = randomUUID();
    const askedAt = new Date().toISOString();
    await erasures.create({ erasureId, askedBy, requestedBy: askedBy, askedAt, ...scope });
    await send({ search: { erasureId } }, askedBy);
  };
  const isThere = async (extractionId: string): Promise<boolean> => {
    const Key = marshall({ extractionId });
    return (
      (await dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item !== undefined
    );
  };
  const eraseSingles = async (): Promise<readonly number[]> => {
    const caller = callerOf('Quiet');
    const times: number[] = [];
    for (let one = 0; one < singles; one += 1) {
      const extractionId = await putClosed(caller, `person-${one}`);
      const began = Date.now();
      await ask(caller, { extractionId });
      while (await isThere(extractionId)) await delay(50, undefined, { signal: stop });
      times.push(Date.now() - began);
    }
    return times;
  };

  const busy = callerOf('Busy');
  const theirs = await Promise.all(
    Array.from({ length: many }, () => atOnce(() => putClosed(busy, 'a-person'))),
  );
  const alone = await eraseSingles();
  const began = Date.now();
  await ask(busy, { reference: 'a-person' });
  const beside = await eraseSingles();
  const left = await Promise.all(theirs.map((id) => atOnce(() => isThere(id))));
  console.log(
    [
      `One of a caller alone: ${inSeconds(alone)}. Beside ${many} of another caller: ${inSeconds(beside)}.`,
      `Of those, ${left.filter(Boolean).length} were left after ${((Date.now() - began) / 1_000).toFixed(0)} s.`,
    ].join('\n'),
  );
});
