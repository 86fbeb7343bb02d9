import { setTimeout as delay } from 'node:timers/promises';
import {
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  type DynamoDBClient,
  type DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { pauseMs } from '../../../lib/aws/items.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { CliError } from '../terminal/errors.ts';

type Pause = (milliseconds: number) => Promise<unknown>;

/** BatchExecuteStatement accepts this many statements. */
const batchSize = 25;

/** With the pauses some 22 s, in which nothing was written. */
const maxTries = 12;

/**
 * Errors that pass, of a call or of one statement
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html).
 */
const passing: readonly (string | undefined)[] = [
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingError',
  'ThrottlingException',
];

/** Throttled, ended by the network, or by a fault of the service. */
const passes = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { httpStatusCode = 0 } = (error as Partial<DynamoDBServiceException>).$metadata ?? {};
  return passing.includes(error.name) || error.name === 'TimeoutError' || httpStatusCode >= 500;
};

/**
 * Repeats the calls of this client that fail for now, also a write, because an insert that is repeated changes nothing. The retries of an
 * SDK client share tokens, which many calls use up if they fail together. Then the SDK throws.
 */
export const repeatFailedCalls = (client: DynamoDBClient, pause: Pause = delay): DynamoDBClient => {
  client.middlewareStack.add(
    (next) => async (args) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await next(args);
        } catch (error) {
          if (tries === maxTries || !passes(error)) throw error;
          await pause(pauseMs(tries - 1));
        }
      }
    },
    { step: 'initialize', name: 'repeatFailedCalls' },
  );
  return client;
};

const insertion = (table: string, record: Extraction): BatchStatementRequest => {
  const attributes = Object.entries(marshall(record, { removeUndefinedValues: true }));
  const names = attributes.map(([name]) => `'${name.replaceAll("'", "''")}': ?`);
  return {
    Statement: `INSERT INTO "${table}" VALUE {${names.join(', ')}}`,
    Parameters: attributes.map(([, value]) => value),
  };
};

type Insertion = { readonly record: Extraction; readonly statement: BatchStatementRequest };

type Answers = { readonly existing: readonly Extraction[]; readonly left: readonly Insertion[] };

/** Makes one call. `existing`: in the table already. `left`: throttled, or without an answer. Throws if one is refused. */
const insert = async (client: DynamoDBClient, insertions: readonly Insertion[]): Promise<Answers> => {
  const Statements = insertions.map(({ statement }) => statement);
  const { Responses = [] } = await client.send(new BatchExecuteStatementCommand({ Statements }));
  const answered = insertions.map((insertion, index) => ({ ...insertion, response: Responses[index] }));
  for (const { response } of answered) {
    const { Code, Message } = response?.Error ?? {};
    if (response?.Error !== undefined && Code !== 'DuplicateItem' && !passing.includes(Code)) {
      throw new CliError(`DynamoDB refused a record. ${Code}: ${Message}`);
    }
  }
  return {
    existing: answered
      .filter(({ response }) => response?.Error?.Code === 'DuplicateItem')
      .map(({ record }) => record),
    left: answered.filter(({ response }) => response === undefined || passing.includes(response.Error?.Code)),
  };
};

/** Returns the records that are in the table already. */
const insertBatch = async (
  client: DynamoDBClient,
  insertions: readonly Insertion[],
  pause: Pause,
): Promise<readonly Extraction[]> => {
  const existing: Extraction[] = [];
  let remaining = insertions;
  let tries = 0;
  while (remaining.length > 0) {
    const answers = await insert(client, remaining);
    existing.push(...answers.existing);
    tries = answers.left.length < remaining.length ? 1 : tries + 1;
    if (tries === maxTries) throw new CliError(`DynamoDB wrote no record in ${maxTries} tries.`);
    remaining = answers.left;
    if (remaining.length > 0) await pause(pauseMs(tries - 1));
  }
  return existing;
};

/**
 * Writes the records that the table does not have, each for the units of a put. Returns the others. An `INSERT` of PartiQL overwrites no
 * item (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.insert.html). BatchWriteItem overwrites, and a
 * transaction costs twice the units.
 */
export const insertMissing = async (
  client: DynamoDBClient,
  table: string,
  records: readonly Extraction[],
  pause: Pause = delay,
): Promise<readonly Extraction[]> => {
  const insertions = records.map((record) => ({ record, statement: insertion(table, record) }));
  const batches = Array.from({ length: Math.ceil(records.length / batchSize) }, (_, batch) =>
    insertBatch(client, insertions.slice(batch * batchSize, (batch + 1) * batchSize), pause),
  );
  return (await Promise.all(batches)).flat();
};
