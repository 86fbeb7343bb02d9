import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, paginateListTables, paginateScan } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import {
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  DescribeExecutionCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  paginateListStateMachines,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { paginateListQueues, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { queueClient } from '../../../tools/cli/aws/queues.ts';
import type { Emulator } from '../../../tools/local/emulator/emulator.ts';
import { itemOf, type SearchedItem } from './searched-item.ts';

type Client = Emulator['client'];
type Items = AsyncGenerator<SearchedItem, void>;

async function* logGroups(config: Client): Items {
  const client = new CloudWatchLogsClient(config);
  for await (const { logGroups: groups = [] } of paginateDescribeLogGroups({ client }, {})) {
    for (const group of groups) {
      const { logGroupName = '' } = group;
      const lines: string[] = [JSON.stringify(group)];
      for await (const { events = [] } of paginateFilterLogEvents({ client }, { logGroupName })) {
        for (const { logStreamName = '', message = '' } of events) lines.push(`${logStreamName} ${message}`);
      }
      yield itemOf('log group', logGroupName, lines.join('\n'));
    }
  }
}

/** On AWS the history of a callback state also contains its token, in the parameters of TaskScheduled. */
async function* executions(config: Client): Items {
  const client = new SFNClient(config);
  for await (const { stateMachines = [] } of paginateListStateMachines({ client }, {})) {
    for (const { stateMachineArn } of stateMachines) {
      for await (const page of paginateListExecutions({ client }, { stateMachineArn })) {
        for (const { executionArn, name: execution = '' } of page.executions ?? []) {
          const content: unknown[] = [await client.send(new DescribeExecutionCommand({ executionArn }))];
          const pages = paginateGetExecutionHistory({ client }, { executionArn, includeExecutionData: true });
          for await (const { events } of pages) content.push(events);
          yield itemOf('execution', execution, content);
        }
      }
    }
  }
}

async function* tables(config: Client): Items {
  const client = new DynamoDBClient(config);
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    for (const TableName of TableNames) {
      const items: unknown[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName })) items.push(...Items);
      yield itemOf('table', TableName, items);
    }
  }
}

/** The records of every stream, from the oldest one. */
export async function* streams(config: Client): Items {
  const client = new DynamoDBStreamsClient(config);
  const { Streams = [] } = await client.send(new ListStreamsCommand({}));
  for (const { StreamArn, TableName = '' } of Streams) {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
      let { ShardIterator } = await client.send(new GetShardIteratorCommand(from));
      const all: unknown[] = [];
      while (ShardIterator !== undefined) {
        const { Records = [], NextShardIterator } = await client.send(
          new GetRecordsCommand({ ShardIterator }),
        );
        all.push(...Records);
        // An open shard never ends. An empty answer is the end of its records so far.
        ShardIterator = Records.length === 0 ? undefined : NextShardIterator;
      }
      yield itemOf('stream', `${TableName} ${ShardId}`, all);
    }
  }
}

/** A received message is hidden for a minute, so that each is read once. */
async function* queues(config: Client): Items {
  const client = queueClient({ client: config, isEmulated: true });
  for await (const { QueueUrls = [] } of paginateListQueues({ client }, {})) {
    for (const QueueUrl of QueueUrls) {
      const all: unknown[] = [];
      const receive = async () => {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({
            QueueUrl,
            MaxNumberOfMessages: 10,
            VisibilityTimeout: 60,
            MessageSystemAttributeNames: ['All'],
            MessageAttributeNames: ['All'],
          }),
        );
        return Messages;
      };
      for (let some = await receive(); some.length > 0; some = await receive()) all.push(...some);
      yield itemOf('queue', QueueUrl, all);
    }
  }
}

async function* buckets(config: Client): Items {
  const client = new S3Client({ ...config, forcePathStyle: true });
  const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
  for (const { Name: Bucket = '' } of Buckets) {
    let KeyMarker: string | undefined;
    do {
      const page = await client.send(new ListObjectVersionsCommand({ Bucket, KeyMarker }));
      for (const { Key = '', VersionId } of page.Versions ?? []) {
        const versioned = VersionId === undefined || VersionId === 'null' ? {} : { VersionId };
        const { Body, Metadata } = await client.send(new GetObjectCommand({ Bucket, Key, ...versioned }));
        const name = Buffer.from(`${Key}\n${JSON.stringify(Metadata)}\n`);
        const bytes = Buffer.concat([name, (await Body?.transformToByteArray()) ?? Buffer.alloc(0)]);
        yield { location: 'bucket', name: `${Bucket}/${Key}`, bytes };
      }
      KeyMarker = page.IsTruncated === true ? page.NextKeyMarker : undefined;
    } while (KeyMarker !== undefined);
  }
}

/**
 * What the account holds of extractions, as its APIs return it. Everything else, such as functions, roles and metrics, is in the
 * emulator's own state, which is searched too.
 */
export async function* keptByAws(config: Client): Items {
  for (const itemsIn of [logGroups, executions, tables, streams, queues, buckets]) {
    yield* itemsIn(config);
  }
}
