import { createHash } from 'node:crypto';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { ResourceNotFoundException } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeTableCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../../../lib/defined.ts';
import { once } from '../../../lib/once.ts';
import type { Deployment } from '../aws/deployment.ts';
import { linesWithMessage, logsClient } from '../aws/logs.ts';
import { openExtractionIds, readExtractions, readItems } from '../aws/read-extractions.ts';
import { type MetricId, readMetric } from '../aws/read-metric.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { allStreamChanges } from '../aws/read-stream-changes.ts';
import { readStackResources } from '../aws/stack.ts';
import { s3Of } from '../aws/stores.ts';
import type {
  AuditSources,
  Estimate,
  Logged,
  Period,
  RequestItem,
  StoredBytes,
  StoredResults,
  TaskFacts,
} from './sources.ts';

/** The lines of one function that have this message, with the ids in them. `part` is of the name of its log group. */
const logOf = (
  deployment: Deployment,
  part: string,
  message: string,
  groups: () => Promise<readonly string[]>,
) =>
  async function* lines(period: Period): AsyncGenerator<Logged, void> {
    const client = logsClient(deployment.client);
    for (const name of (await groups()).filter((group) => group.includes(part))) {
      try {
        for await (const { extractionId, taskId, timestamp } of linesWithMessage(
          client,
          name,
          message,
          period,
        )) {
          if (typeof extractionId !== 'string') continue;
          yield {
            extractionId,
            at: String(timestamp),
            ...(typeof taskId === 'string' && { taskId }),
          };
        }
      } catch (error) {
        // On the emulator, a function that never ran has none.
        if (!(error instanceof ResourceNotFoundException) || !deployment.isEmulated) throw error;
      }
    }
  };

/** Reads the items, and neither returns nor transfers what is sealed. The policy of a viewer allows no other attributes. */
const readRequestItems = async (
  dynamo: DynamoDBClient,
  TableName: string,
): Promise<readonly RequestItem[]> => {
  const items: RequestItem[] = [];
  const pages = paginateScan(
    { client: dynamo },
    {
      TableName,
      Select: 'SPECIFIC_ATTRIBUTES',
      ProjectionExpression: 'requestId, extractionId, expiresAt',
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages)
    items.push(...Items.map((item) => unmarshall(item) as RequestItem));
  return items;
};

const readStored = async (
  deployment: Deployment,
  { bucket, key }: StoredResults,
): Promise<StoredBytes | undefined> => {
  try {
    const { Body } = await s3Of(deployment).send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      bytes += chunk.byteLength;
    }
    return { bytes, sha256: hash.digest('hex') };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
};

const hourSeconds = 3_600;

/** The sum of a metric in a period, by whole hours. Undefined where there are no values, as on an emulator. */
const sumOf = async (
  { client }: Deployment,
  metric: MetricId,
  { from, to }: Period,
): Promise<number | undefined> => {
  const points = await readMetric(new CloudWatchClient(client), metric, {
    since: new Date(from),
    until: new Date(to),
    periodSeconds: Math.ceil((Date.parse(to) - Date.parse(from)) / 1_000 / 1_000 / hourSeconds) * hourSeconds,
    statistic: 'Sum',
  });
  return points.length === 0 ? undefined : points.reduce((sum, { value }) => sum + value, 0);
};

const requestLog = 'RequestExtractionLog';
const startLog = 'StartTaskLog';

/** What AWS counts anyway. DynamoDB updates the number of a table's items every six hours. */
const estimateOf = async (
  deployment: Deployment,
  resources: () => ReturnType<typeof readStackResources>,
  period: Period,
): Promise<Estimate> => {
  const byType = await resources();
  const named = (type: string, ...parts: readonly string[]) =>
    (byType.get(type) ?? []).filter((name) => parts.some((part) => name.includes(part)));
  const sum = (namespace: string, name: string, dimension: string) => (value: string) =>
    sumOf(deployment, { namespace, name, dimensions: { [dimension]: value } }, period);
  const [requests, logBytes, { Table }] = await Promise.all([
    Promise.all(
      named('AWS::Lambda::Function', 'RequestExtraction').map(
        sum('AWS/Lambda', 'Invocations', 'FunctionName'),
      ),
    ),
    Promise.all(
      named('AWS::Logs::LogGroup', requestLog, startLog).map(
        sum('AWS/Logs', 'IncomingBytes', 'LogGroupName'),
      ),
    ),
    new DynamoDBClient(deployment.client).send(
      new DescribeTableCommand({ TableName: deployment.output('RequestsTableName') }),
    ),
  ]);
  const total = (all: readonly (number | undefined)[]) => {
    const known = all.filter((one) => one !== undefined);
    return known.length === 0 ? undefined : known.reduce((one, other) => one + other, 0);
  };
  return defined({ requests: total(requests), logBytes: total(logBytes), requestItems: Table?.ItemCount });
};

/** The sources of a deployment, read with the operator's credentials. Nothing is written. */
export const auditSources = (deployment: Deployment): AuditSources => {
  const { client, output, stackName, sweepEveryMinutes } = deployment;
  const dynamo = new DynamoDBClient(client);
  const resources = once(() => readStackResources(new CloudFormationClient(client), stackName));
  const groups = async () => (await resources()).get('AWS::Logs::LogGroup') ?? [];
  return {
    estimate: (period) => estimateOf(deployment, resources, period),
    limits: async () => {
      const { timings } = await readReconcileSettings(
        new LambdaClient(client),
        output('ReconcileFunctionName'),
      );
      return { ...timings, sweepEvery: sweepEveryMinutes() * 60 };
    },
    requested: logOf(deployment, requestLog, 'Extraction requested.', groups),
    accepted: logOf(deployment, startLog, 'The provider accepted the task.', groups),
    due: async () => openExtractionIds(dynamo, output('ExtractionsTableName')),
    requestItems: async () => readRequestItems(dynamo, output('RequestsTableName')),
    // With more tries than the SDK's three: a shard supports two readers, which consumers may be.
    changes: (until) =>
      allStreamChanges(
        new DynamoDBStreamsClient({ ...client, maxAttempts: 10 }),
        output('ExtractionsStreamArn'),
        until,
      ),
    records: async (ids) => readExtractions(dynamo, output('ExtractionsTableName'), ids),
    tasks: async (taskIds) =>
      (await readItems(dynamo, {
        table: output('TasksTableName'),
        keys: [...new Set(taskIds)].map((taskId) => ({ taskId })),
        projection: 'taskId, extractionId, taskStatus, notifiedAt',
      })) as readonly TaskFacts[],
    stored: (results) => readStored(deployment, results),
  };
};
