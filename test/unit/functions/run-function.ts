import {
  type BatchGetItemCommandInput,
  DynamoDBClient,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { KMSClient } from '@aws-sdk/client-kms';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import type { FunctionName } from '../../../infra/lambda/contracts.ts';
import { interpretedDynamo } from '../../support/stores/interpreted-dynamo.ts';
import { everyOption, functionsOf, required, synthesize } from '../infra/synth.ts';

/** Each setting has another value than its default, and no two of them the same. */
const settings = {
  ...required,
  ...everyOption,
  encryptRawCredentials: 'false',
  startsPerSecond: 7,
};

/** The variables that the template gives a function. What names a resource is its logical id, as `<StorageTasks>`, at the end of a queue's URL. */
export const variablesOf = (name: FunctionName): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(functionsOf(synthesize(settings).template).get(name)?.variables ?? {}).map(
      ([variable, value]) => [
        variable,
        variable.endsWith('_QUEUE_URL') ? `https://sqs.example/111122223333/${value}` : value,
      ],
    ),
  );

type Tables = Partial<BatchGetItemCommandInput & TransactWriteItemsCommandInput> & {
  readonly TableName?: string;
};

type Command = { readonly input: Record<string, unknown> };
type Sent = { readonly name: string; readonly input: Record<string, unknown> };

/** The tables, each by the name of its key. */
const tablesInMemory = () => {
  const keys = {
    Breakers: 'name',
    Erasures: 'erasureId,item',
    Extractions: 'extractionId',
    Refusals: 'credentialsMac',
    Requests: 'requestId',
    StartLine: 'extractionId',
    Tasks: 'taskId',
  };
  return Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, interpretedDynamo(key, { readsOld: true })]),
  ) as Readonly<Record<keyof typeof keys, ReturnType<typeof interpretedDynamo>>>;
};

/**
 * AWS for all functions: tables in memory, and what is sent to every other service. Clients are made by the functions themselves, so this
 * replaces `send` of their classes.
 */
export const stubAws = () => {
  const tables = tablesInMemory();
  const sent: Sent[] = [];
  /** By the name of a command, or the id of a secret. A function is called. */
  const answers: Record<string, unknown> = {};
  const tableNamed = (name = '') => tables[name.replace(/^<Storage(\w+)>$/, '$1') as keyof typeof tables];

  const answerDynamo = (command: unknown) => {
    const { TableName, RequestItems, TransactItems } = (command as { readonly input: Tables }).input;
    const named = TableName ?? Object.keys(RequestItems ?? {})[0] ?? TransactItems?.[0]?.Put?.TableName;
    return tableNamed(named).client.send(command as never);
  };
  const answer = (command: Command) => {
    const { SecretId, VersionStage } = command.input;
    if (VersionStage === 'AWSPREVIOUS') throw new ResourceNotFoundException({ message: '', $metadata: {} });
    const found = answers[String(SecretId ?? command.constructor.name)];
    if (typeof found === 'function') return found();
    return found ?? { SecretString: 'key', Entries: [{ EventId: '1' }] };
  };
  const others = [
    EventBridgeClient,
    KMSClient,
    LambdaClient,
    S3Client,
    SecretsManagerClient,
    SFNClient,
    SQSClient,
  ];
  for (const [clients, reply] of [
    [[DynamoDBClient], answerDynamo],
    [others, answer],
  ] as const) {
    for (const { prototype } of clients) {
      vi.spyOn(prototype, 'send').mockImplementation(async (command: unknown) => {
        const { input } = command as Command;
        sent.push({ name: (command as object).constructor.name.replace('Command', ''), input });
        return reply(command as Command);
      });
    }
  }
  return { tables, sent, answers };
};

let processes = 0;

/** The handler of a function in a process of its own, with the variables of the template and no others. */
export const load = async <Event>(
  name: FunctionName,
  variables: Readonly<Record<string, string>> = {},
): Promise<(event: Event, remainingMs?: () => number) => Promise<unknown>> => {
  for (const one of Object.keys(process.env))
    if (/^[A-Z_]+_(TABLE|URL|ARN|SECRET)$/.test(one)) vi.stubEnv(one, '');
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret' };
  const environment = { AWS_REGION: 'eu-west-1', ...credentials, ...variablesOf(name), ...variables };
  for (const [one, value] of Object.entries(environment)) vi.stubEnv(one, value);
  processes += 1;
  // The query makes it another module each time. Vite would analyse a path and not find it.
  const { handler } = await import(/* @vite-ignore */ `../../../functions/${name}.ts?process=${processes}`);
  return (event, remainingMs = () => 90_000) =>
    handler(event, { awsRequestId: 'request', getRemainingTimeInMillis: remainingMs });
};
