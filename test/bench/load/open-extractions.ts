import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { v7 as newUuid } from 'uuid';
import { dueShardOf } from '#lib/extraction/due.ts';
import { sweepNow } from '../../../tools/cli/operate/invoke-functions.ts';
import { moveTimesIn } from '../../support/aws/move-times.ts';
import type { Entry } from '../ledger/ledger.ts';
import { type MeasuredSystem, startExtraction } from '../measured-system.ts';

/** BatchWriteItem takes 25 requests, and each copy is two items. */
const copiesPerBatch = 12;

type Item = Record<string, unknown>;

/** Starts extractions that stay open through the whole system, `count` of them, of which `due` can be made due. */
export const openExtractions = async (
  system: MeasuredSystem,
  { count: held, due: dueCount }: { count: number; due: number },
) => {
  const { emulator, outputs, ledger, signal } = system;
  const tomorrow = new Date(Date.now() + 86_400_000);
  const [client, lambda] = [new DynamoDBClient(emulator.client), new LambdaClient(emulator.client)];
  const [extractions, tasks] = [outputs.ExtractionsTableName ?? '', outputs.TasksTableName ?? ''];
  const itemOf = async (TableName: string, key: Item): Promise<Item> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key: marshall(key), ConsistentRead: true }),
    );
    return unmarshall(Item ?? {});
  };
  const ids: string[] = [];
  for (let left = held; left > 0; left -= 1) ids.push((await startExtraction(system, 'happy')).extractionId);
  const record = await itemOf(extractions, { extractionId: ids[0] });
  const task = await itemOf(tasks, { taskId: record.taskId });

  /** Sets when the first of those held are due. The ledger does not have these writes, but the reads before the next ones. */
  const setDueAt = async (dueAt: Date): Promise<void> => {
    for (const extractionId of ids.slice(0, dueCount))
      await moveTimesIn(client, extractions, extractionId, { dueAt: dueAt.toISOString() });
  };
  /** Makes so many copies of an open extraction. Returns what deletes them. */
  const copy = async (count: number): Promise<() => Promise<void>> => {
    const copies = Array.from({ length: count }, () => {
      const [extractionId, taskId] = [newUuid(), randomUUID()];
      return {
        extraction: {
          ...record,
          extractionId,
          taskId,
          dueAt: tomorrow.toISOString(),
          dueShard: dueShardOf(extractionId),
        },
        task: { ...task, taskId, extractionId },
      };
    });
    const write = async (isDeleted: boolean): Promise<void> => {
      const request = (item: Item, key: string) =>
        isDeleted
          ? { DeleteRequest: { Key: marshall({ [key]: item[key] }) } }
          : { PutRequest: { Item: marshall(item) } };
      for (let from = 0; from < count; from += copiesPerBatch) {
        const batch = copies.slice(from, from + copiesPerBatch);
        await client.send(
          new BatchWriteItemCommand({
            RequestItems: {
              [extractions]: batch.map((one) => request(one.extraction, 'extractionId')),
              [tasks]: batch.map((one) => request(one.task, 'taskId')),
            },
          }),
        );
      }
    };
    await write(false);
    return () => write(true);
  };
  /** A sweep that sends so many records, and their reconciles. Those of an earlier sweep may take some of them just before. */
  const sweep = async (due: number): Promise<readonly Entry[]> => {
    for (let tries = 0; tries < 3; tries += 1) {
      if (due > 0) await setDueAt(new Date());
      const before = new Set(ledger.entries());
      const isNew = (entry: Entry) => !before.has(entry) && entry.trigger === 'sweep';
      const { sent, failed } = await sweepNow(lambda, outputs.SweepFunctionName ?? '');
      if (failed > 0) throw new Error(`The sweep failed on ${failed} records.`);
      const entries = await ledger.atLeast(1 + sent, isNew, signal);
      if (sent === due) return entries;
    }
    throw new Error(`No sweep sent the ${due} records that were due: run it again.`);
  };
  return { copy, sweep, endDue: () => setDueAt(tomorrow) };
};
