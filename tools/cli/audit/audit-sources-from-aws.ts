import { createHash } from 'node:crypto';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { S3Client } from '@aws-sdk/client-s3';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { everyErasure } from '../../../lib/aws/dynamo-erasure-store.ts';
import { repeatsOf } from '../../../lib/aws/dynamo-repeat-counter.ts';
import { readItems } from '../../../lib/aws/items.ts';
import { countObjects } from '../../../lib/aws/removals-on-aws.ts';
import { defined } from '../../../lib/defined.ts';
import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import type { Deployment } from '../aws/deployment.ts';
import { type LoggedFields, linesWithMessage, logsClient } from '../aws/logs.ts';
import { allStreamChanges } from '../aws/read-extraction-changes.ts';
import { openExtractionIds } from '../aws/read-extractions.ts';
import type { Period } from '../aws/read-log-lines.ts';
import { readMetric } from '../aws/read-metric.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { breakersOf, findResults, s3Of } from '../aws/stores.ts';
import type {
  AuditSources,
  Logged,
  MarkFacts,
  PlaceFacts,
  RequestItem,
  StoredBytes,
  TaskFacts,
  Tombstone,
} from './audit-types.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const loggedOf = ({ extractionId, timestamp, entity, product, ...line }: LoggedFields): Logged => {
  const about = { taskId: text(line.taskId), caller: text(line.caller), subject: text(entity ?? product) };
  return defined({ extractionId: String(extractionId), at: String(timestamp), ...about });
};

/** Reads these attributes of all items: the policy of a viewer allows nothing that is sealed, and no callback token. */
async function* scan(
  client: DynamoDBClient,
  TableName: string,
  ProjectionExpression: string,
): AsyncGenerator<Record<string, unknown>, void> {
  const read = { Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression } as const;
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true, ...read })) {
    yield* Items.map((item) => unmarshall(item));
  }
}

async function* scanLine(client: DynamoDBClient, table: string): AsyncGenerator<PlaceFacts, void> {
  for await (const item of scan(client, table, 'extractionId, requestId, line, slot, waitedMs')) {
    // The others count calls.
    if (item.requestId !== undefined) yield item as PlaceFacts;
  }
}

/** The extractions that a mark, or a count of repeats, names. */
async function* scanMarks(client: DynamoDBClient, table: string): AsyncGenerator<MarkFacts, void> {
  const attributes = 'credentialsMac, extractionIds, expiresAt, isRefused';
  for await (const { credentialsMac, extractionIds, ...says } of scan(client, table, attributes)) {
    const ids = (extractionIds as readonly string[] | undefined) ?? [repeatsOf(String(credentialsMac))];
    yield* ids.map((extractionId) => ({ extractionId, ...says }) as MarkFacts);
  }
}

/** The tombstones, with what is known of their erasure. */
async function* scanTombstones(client: DynamoDBClient, table: string): AsyncGenerator<Tombstone, void> {
  const asked = new Map<string, Pick<Tombstone, 'askedAt' | 'searchedAt' | 'reference'>>();
  const tombstones: (Tombstone & { readonly erasureId: string })[] = [];
  for await (const item of everyErasure(client, table)) {
    if (!('askedAt' in item)) tombstones.push(item);
    else {
      const { askedAt, searchedAt, reference } = item;
      asked.set(item.erasureId, defined({ askedAt, searchedAt, reference }));
    }
  }
  for (const { erasureId, ...tombstone } of tombstones) yield { ...tombstone, ...asked.get(erasureId) };
}

const readStored = async (s3: S3Client, results: StoredResults): Promise<StoredBytes | undefined> => {
  const body = await findResults(s3, results);
  if (body === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { bytes, sha256: hash.digest('hex') };
};

/** How often a function was invoked, by whole hours. Undefined where CloudWatch has no value, as on an emulator. */
const invocationsOf = async ({ client }: Deployment, FunctionName: string, { from, to }: Period) => {
  const [since, until] = [new Date(from), new Date(to)];
  // At most 1,440 points.
  const periodSeconds = Math.ceil((until.getTime() - since.getTime()) / 3_600_000 / 1_440) * 3_600;
  const points = await readMetric(
    new CloudWatchClient(client),
    { namespace: 'AWS/Lambda', name: 'Invocations', dimensions: { FunctionName } },
    { since, until, periodSeconds, statistic: 'Sum' },
  );
  return points.length === 0 ? undefined : points.reduce((sum, { value }) => sum + value, 0);
};

/** The sources of a deployment, read with the operator's credentials. Nothing is written. */
export const auditSources = (deployment: Deployment): AuditSources => {
  const { client, output, resources, sweepEveryMinutes } = deployment;
  const dynamo = new DynamoDBClient(client);
  /** The name that CloudFormation generated contains this part. */
  const named = async (type: string, part: string) =>
    (await resources(type)).find((name) => name.includes(part)) ?? part;
  const lines = (part: string, message: string) =>
    async function* ofPeriod(period: Period) {
      const group = await named('AWS::Logs::LogGroup', part);
      // On the emulator, a function that never ran has no log.
      const found = linesWithMessage(logsClient(client), group, message, period, deployment.isEmulated);
      for await (const line of found) yield loggedOf(line);
    };
  return {
    estimate: async (period) =>
      invocationsOf(deployment, await named('AWS::Lambda::Function', 'RequestExtraction'), period),
    limits: async () => {
      const { timings } = await readReconcileSettings(deployment);
      return { ...timings, sweepEvery: sweepEveryMinutes() * 60 };
    },
    requested: lines('RequestExtractionLog', logMessages.requested),
    accepted: lines('StartTaskLog', logMessages.accepted),
    due: async () => openExtractionIds(dynamo, output('ExtractionsTableName')),
    tombstones: () => scanTombstones(dynamo, output('ErasuresTableName')),
    marks: () => scanMarks(dynamo, output('RefusalsTableName')),
    line: () => scanLine(dynamo, output('StartLineTableName')),
    shared: () => breakersOf(deployment).list(),
    objects: (extractionId) =>
      countObjects(s3Of(deployment), output('ResultsBucketName'), `${extractionId}/`),
    requestItems: () => {
      const items = scan(dynamo, output('RequestsTableName'), 'requestId, extractionId, expiresAt');
      return items as AsyncGenerator<RequestItem, void>;
    },
    // With more tries than the SDK's three: a shard supports two readers, which consumers may be.
    changes: (until) => {
      const streams = new DynamoDBStreamsClient({ ...client, maxAttempts: 10 });
      return allStreamChanges(streams, output('ExtractionsStreamArn'), until);
    },
    records: (ids) => {
      const keys = ids.map((extractionId) => ({ extractionId }));
      return readItems(dynamo, { table: output('ExtractionsTableName') }, keys) as AsyncIterable<Extraction>;
    },
    tasks: (taskIds) => {
      const attributes = [
        'taskId',
        'extractionId',
        'taskStatus',
        'firstStatus',
        'notifiedAt',
        'credentialsMac',
      ];
      const from = { table: output('TasksTableName'), attributes };
      const keys = taskIds.map((taskId) => ({ taskId }));
      return readItems(dynamo, from, keys) as AsyncIterable<TaskFacts>;
    },
    stored: (results) => readStored(s3Of(deployment), results),
  };
};
