import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type RestoredKind, restore as restoreRows } from '../../../lib/extraction/operate/restore.ts';
import { scanExtractions } from '../aws/read-extractions.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { extractionsOf, requestsOf } from '../aws/stores.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

type RestoreOptions = {
  readonly from: string;
  readonly except?: readonly string[];
  readonly dryRun?: true;
};

const meanings: Readonly<Record<RestoredKind, string>> = {
  closed: 'copied unchanged, closed',
  due: 'copied, due now: the next sweep queues it',
  unconfirmed: 'copied as UNCONFIRMED: not confirmed as started in the backup, and never started again',
  present: 'not copied: already in the live table',
  'requested-again':
    'not copied: the live table has another request with the same idempotency key. Check each',
  excepted: 'omitted by --except',
  expired: 'omitted: the retention is over',
  unreadable: 'omitted: not a record of an extraction',
};

export const restore = async (
  { from, except = [], dryRun: isDryRun }: RestoreOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { client, output } = deployment;
  const dryRun = isDryRun === true;
  const table = output('ExtractionsTableName');
  if (from === table) throw new UsageError('--from is the live table. Name the restored one.');
  const dynamo = new DynamoDBClient(client);
  await requireTable(dynamo, from);
  const { timings } = await readReconcileSettings(deployment);
  const live = extractionsOf(deployment);
  const requests = requestsOf(deployment);
  shell.wait('copying');
  const result = await restoreRows(scanExtractions(dynamo, from), {
    create: live.create,
    get: live.get,
    forgetRequest: ({ requestId }) => requests.remove(requestId, undefined),
    dryRun,
    except: new Set(except),
    now: shell.now,
    recordRetention: timings.recordRetention,
    onRecord: (extractionId, kind) => {
      shell.wait(undefined);
      shell.print(`${extractionId}  ${kind}`, { extractionId, kind });
      shell.wait('copying');
    },
  });
  shell.wait(undefined);
  const lines = (Object.keys(meanings) as RestoredKind[])
    .filter((kind) => result[kind] > 0)
    .map((kind) => `${result[kind]} ${meanings[kind]}`);
  const heading = dryRun ? 'Nothing was written. Without --dry-run:' : 'Done:';
  shell.print([heading, ...(lines.length === 0 ? ['the table is empty'] : lines)], { dryRun, ...result });
  return 0;
};

const requireTable = async (dynamo: DynamoDBClient, TableName: string): Promise<void> => {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName })).catch((cause: unknown) => {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw new CliError(`There is no table ${TableName} in this account and region.`, { cause });
  });
  if (Table?.KeySchema?.[0]?.AttributeName !== 'extractionId') {
    throw new CliError(`${TableName} is not a table of extractions: its key is not extractionId.`);
  }
  if (Table.TableStatus !== 'ACTIVE') {
    throw new CliError(`${TableName} is ${String(Table.TableStatus)}. Wait until it is ACTIVE.`);
  }
};
