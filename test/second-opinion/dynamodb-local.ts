import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
} from '@aws-sdk/client-dynamodb';
import { closedPort } from '../support/programs/closed-port.ts';
import { resourcesOf, synthesize } from '../unit/infra/synth.ts';
import { prepareJars } from './java.ts';

export type DynamoDBLocal = {
  readonly client: DynamoDBClient;
  readonly stop: () => Promise<void>;
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Starts DynamoDB Local, in memory and without telemetry, on a free port. */
export const startDynamoDBLocal = async (): Promise<DynamoDBLocal> => {
  const jars = await prepareJars();
  for (;;) {
    const port = await closedPort();
    const server = [
      'software.amazon.dynamodb.services.local.main.ServerRunner',
      '-inMemory',
      '-disableTelemetry',
    ];
    const child = spawn(
      'java',
      [`-Djava.library.path=${jars}`, '-cp', join(jars, '*'), ...server, '-port', String(port)],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DDB_LOCAL_TELEMETRY: '0' } },
    );
    const ended = once(child, 'exit');
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const client = new DynamoDBClient({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      // A repeated write has another answer. A connection that is not kept cannot have been closed meanwhile.
      maxAttempts: 1,
      requestHandler: { httpAgent: { keepAlive: false } },
    });
    const stop = async (): Promise<void> => {
      client.destroy();
      child.kill();
      await ended;
    };
    while (!hasEnded(child)) {
      const answers = await client.send(new ListTablesCommand()).then(
        () => true,
        () => false,
      );
      if (answers) return { client, stop };
      await delay(50);
    }
    // Another process may have taken the port meanwhile.
    if (!/BindException|in use/.test(log)) throw new Error(`DynamoDB Local ended while it started.\n${log}`);
  }
};

type Definition = Pick<
  CreateTableCommandInput,
  'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes' | 'BillingMode'
>;

/** The definition of a table in the template, by the beginning of its logical id. */
export const definitionOf = (table: string): Definition => {
  const tables = Object.entries(resourcesOf(synthesize().template, 'AWS::DynamoDB::Table'));
  const [, found] = tables.find(([id]) => id.startsWith(`Storage${table}`)) ?? [];
  if (found === undefined) throw new Error(`The template has no table ${table}.`);
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode } =
    found.Properties as Definition;
  return { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode };
};

export const createTable = async (
  { client }: DynamoDBLocal,
  TableName: string,
  definition: Definition,
): Promise<void> => {
  await client.send(new CreateTableCommand({ TableName, ...definition }));
};

export const deleteTable = async ({ client }: DynamoDBLocal, TableName: string): Promise<void> => {
  await client.send(new DeleteTableCommand({ TableName }));
};
