import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import { restore as restoreRows } from '../../extraction/operate/restore.ts';
import { readReconcileSettings } from '../aws/reconcile-function.ts';
import { scanExtractions } from '../aws/scan-extractions.ts';
import type { Context } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';

export type RestoreOptions = {
  readonly from: string;
  readonly except?: readonly string[];
  readonly dryRun?: true;
};

const meanings = {
  closed: 'copied as they were, closed',
  due: 'copied, and due now: the next sweep asks the provider',
  unconfirmed:
    'copied as UNCONFIRMED: their start was not confirmed in the backup, and they are never started again',
  present: 'there already, and left alone',
  'requested-again':
    'there already, of another request under the same idempotency key: left alone, look at them',
  excepted: 'left out, as asked',
  expired: 'left out: their retention is over',
  unreadable: 'left out: no record of an extraction',
} as const;

/** Copies what the live table lacks from one that point-in-time recovery made. */
export const restore = async (
  { from, except = [], dryRun: isDryRun }: RestoreOptions,
  { shell, connect }: Context,
): Promise<number> => {
  const system = await connect();
  const dryRun = isDryRun === true;
  const table = system.output('ExtractionsTableName');
  if (from === table) throw new UsageError('--from is the live table itself: name the restored one.');
  const dynamo = new DynamoDBClient(system.client);
  await requireTable(dynamo, from);
  const { timings } = await readReconcileSettings(
    new LambdaClient(system.client),
    system.output('ReconcileFunctionName'),
  );
  const live = dynamoExtractionStore(dynamo, table);
  shell.wait('copying');
  const restored = await restoreRows(scanExtractions(dynamo, from), {
    ...{ create: live.create, get: live.get, dryRun },
    except: new Set(except),
    now: shell.now,
    recordRetention: timings.recordRetention,
    onRow: (extractionId, kind) => {
      shell.wait(undefined);
      shell.print(`${extractionId}  ${kind}`, { extractionId, kind });
      shell.wait('copying');
    },
  });
  shell.wait(undefined);
  const lines = Object.entries(meanings).flatMap(([kind, meaning]) => {
    const count = restored[kind as keyof typeof meanings];
    return count === 0 ? [] : [`${count} ${meaning}`];
  });
  const head = dryRun ? 'Nothing was written. It would be:' : 'Done:';
  shell.print([head, ...(lines.length === 0 ? ['that table is empty'] : lines)], {
    dryRun,
    ...restored,
  });
  return 0;
};

/** @throws Problem where there is no such table, or it is of something else, or not ready */
const requireTable = async (dynamo: DynamoDBClient, TableName: string): Promise<void> => {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName })).catch((cause: unknown) => {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw new CliError(`There is no table ${TableName} here.`, { cause });
  });
  if (Table?.KeySchema?.[0]?.AttributeName !== 'extractionId') {
    throw new CliError(`${TableName} is no table of extractions: its key is another.`);
  }
  if (Table.TableStatus !== 'ACTIVE') {
    throw new CliError(`${TableName} is ${String(Table.TableStatus)}: wait until it is ACTIVE.`);
  }
};
