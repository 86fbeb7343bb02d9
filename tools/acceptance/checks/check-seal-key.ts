import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DecryptCommand, GetKeyPolicyCommand, KMSClient } from '@aws-sdk/client-kms';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoRequestStore } from '../../../lib/aws/dynamo-request-store.ts';
import { credentialsContext } from '../../../lib/aws/seal.ts';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import type { StoredRequest } from '../../../lib/extraction/store.ts';
import { extractionsOf } from '../../cli/aws/stores.ts';
import { type AcceptContext, type Check, expectNone, passed, Unmet, webhookArrives } from './check.ts';
import { extract, extractUntilDone, isDone, readUntil, requestOf } from './request-and-await.ts';

/** For how long the provider is busy for an extraction whose sealed data are read: some tries of the machine. */
const busySeconds = 20;

const requestsOf = ({ client, deployment }: AcceptContext) =>
  dynamoRequestStore(new DynamoDBClient(client), deployment.output('RequestsTableName'));

/** Requests an extraction for which the provider is busy for a while, and returns the item with its sealed credentials. */
const extractBusy = async (context: AcceptContext, checkId: string) => {
  const busyUntil = Math.ceil(context.now().getTime() / 1_000) + busySeconds;
  const extractionId = await extract(context, requestOf(checkId, { busyUntil }));
  const record = await extractionsOf(context.deployment).get(extractionId);
  const item = await requestsOf(context).get(record?.requestId ?? '');
  if (record === undefined || item === undefined)
    throw new Unmet(`The table Requests has no item for ${extractionId}, which is not started yet.`);
  return { busyUntil, item, record };
};

export const requestForgotten: Check = {
  id: 'request-forgotten',
  title:
    'After the start was answered, the sealed credentials are gone, and the execution has two ids and nothing else',
  dependsOn: webhookArrives,
  run: async (context) => {
    const { extractionId } = await extractUntilDone(context, 'request-forgotten', {}, 'COMPLETED');
    const arn = executionArn(context.deployment.output('StateMachineArn'), extractionId);
    const { input: text = '' } = await new SFNClient(context.client).send(
      new DescribeExecutionCommand({ executionArn: arn }),
    );
    const input = JSON.parse(text) as { readonly requestId: string };
    if ((await requestsOf(context).get(input.requestId)) !== undefined) {
      throw new Unmet(
        `The sealed credentials of ${extractionId} are still in the table Requests. The log of start-task shows what it did.`,
      );
    }
    if (Object.keys(input).toSorted().join() !== 'extractionId,requestId') {
      throw new Unmet(`The input of the execution of ${extractionId} has more than two ids.`);
    }
    return passed('no item in Requests; the input of the execution has extractionId and requestId');
  },
};

const expectDenied = async (call: Promise<unknown>, unmet: string): Promise<void> => {
  const answer = await call.then(
    () => 'allowed',
    (error: Error) => error,
  );
  if (answer === 'allowed') throw new Unmet(unmet);
  if ((answer as Error).name !== 'AccessDeniedException') throw answer;
};

export const sealKeyAdministrator: Check = {
  id: 'seal-key-administrator',
  title:
    'An administrator cannot decrypt sealed credentials, even with the right encryption context, and cannot read the fingerprint key',
  notOnEmulator: 'it does not apply these policies to its root',
  run: async (context) => {
    const { item, record } = await extractBusy(context, 'seal-key-administrator');
    const { variables } = await context.stack.functionNamed('start-task');
    const decrypt = new DecryptCommand({
      KeyId: variables.SEAL_KEY_ARN,
      CiphertextBlob: Buffer.from(item.sealed, 'base64'),
      EncryptionContext: credentialsContext(record),
    });
    await expectDenied(
      new KMSClient(context.client).send(decrypt),
      'Your own identity decrypted sealed credentials. Compare the policy of the seal key with the template.',
    );
    const SecretId = `${context.deployment.name}/fingerprint-key`;
    await expectDenied(
      new SecretsManagerClient(context.client).send(new GetSecretValueCommand({ SecretId })),
      'Your own identity read the fingerprint key. Compare the resource policy of this secret with the template.',
    );
    return passed(
      'kms:Decrypt and secretsmanager:GetSecretValue by your own identity: AccessDeniedException',
    );
  },
};

export type Statement = {
  readonly Effect: string;
  readonly Principal?: '*' | { readonly AWS?: string | readonly string[] };
  readonly Action: string | readonly string[];
  readonly Condition?: { readonly Null?: Readonly<Record<string, unknown>> };
};

/** Actions that decrypt, or that give the right to. */
const opens = /^(\*|kms:(\*|Decrypt.*|ReEncrypt.*|Create(Grant|\*)))$/;

const principalsOf = ({ Principal = {} }: Statement): readonly string[] =>
  Principal === '*' ? ['*'] : [Principal.AWS ?? []].flat();

/** Whether it holds only for uses that name an extraction and its request in their encryption context. */
const requiresContext = ({ Condition }: Statement): boolean =>
  ['extractionId', 'requestId'].every(
    (name) => Condition?.Null?.[`kms:EncryptionContext:${name}`] === 'false',
  );

/** What is wrong with a key policy that only these roles may decrypt under, as sentences. */
export const keyPolicyProblems = (
  policy: { readonly Statement: readonly Statement[] },
  users: readonly { readonly name: string; readonly roleArn: string }[],
  { withConditions }: { readonly withConditions: boolean },
): readonly string[] => {
  const statements = policy.Statement.filter(
    ({ Effect, Action }) => Effect === 'Allow' && [Action].flat().some((action) => opens.test(action)),
  );
  const principals = statements.flatMap(principalsOf);
  const others = principals.filter((arn) => !users.some(({ roleArn }) => roleArn === arn));
  const missing = users.filter(({ roleArn }) => !principals.includes(roleArn));
  const free = withConditions && !statements.every(requiresContext);
  return [
    ...others.map((arn) => `The policy of the seal key lets ${arn} decrypt.`),
    ...missing.map(({ name }) => `The policy of the seal key does not let ${name} decrypt.`),
    ...(free
      ? ['The policy of the seal key allows to decrypt without extractionId and requestId in the context.']
      : []),
  ];
};

export const sealKeyRoles: Check = {
  id: 'seal-key-roles',
  title: 'No role but those of the functions that unseal may decrypt, and only for a named extraction',
  run: async ({ client, stack, deployment }) => {
    const functions = await stack.functions();
    // request-extraction has the key to seal with.
    const users = functions.filter(
      ({ name, variables }) => variables.SEAL_KEY_ARN !== undefined && name !== 'request-extraction',
    );
    const { variables } = await stack.functionNamed('start-task');
    const { Policy = '' } = await new KMSClient(client).send(
      new GetKeyPolicyCommand({ KeyId: variables.SEAL_KEY_ARN, PolicyName: 'default' }),
    );
    // The stage for emulators has no conditions, as emulators do not know them.
    const problems = keyPolicyProblems(JSON.parse(Policy), users, {
      withConditions: !deployment.isMiniStack,
    });
    expectNone(problems, 'Compare the policy with the template.');
    return passed(`only ${users.map(({ name }) => name).join(', ')} may decrypt`);
  },
};

/** KMS's error for a ciphertext under another encryption context. */
const wrongContext = 'InvalidCiphertextException';

/** Overwrites an item, which the store refuses. */
const putItem = ({ client, deployment }: AcceptContext, item: StoredRequest) =>
  new DynamoDBClient(client).send(
    new PutItemCommand({ TableName: deployment.output('RequestsTableName'), Item: marshall(item) }),
  );

/**
 * Puts the sealed credentials of one extraction into the item of another, as somebody could who may write the table, and
 * invokes start-task for that item. The function then decrypts them under the context of that item. Only the function's own role may
 * decrypt, so this is the only real call under a wrong context.
 */
export const sealKeyContext: Check = {
  id: 'seal-key-context',
  title: 'Sealed credentials cannot be decrypted in the item of another extraction',
  dependsOn: webhookArrives,
  seconds: ({ settings }) => settings.timings.startWindow + 60,
  run: async (context) => {
    const other = await extractBusy(context, 'seal-key-context');
    const { item, busyUntil } = await extractBusy(context, 'seal-key-context');
    const { extractionId, requestId } = item;
    const { physicalName } = await context.stack.functionNamed('start-task');
    const lambda = new LambdaClient(context.client);
    // The token is of no machine, so that the report of the failure ends none.
    const callback = { callbackToken: 'cosecha-accept', callbackAttempt: 0, entry: 0, isReleased: false };
    const Payload = JSON.stringify({ extractionId, requestId, ...callback });
    const invoke = new InvokeCommand({ FunctionName: physicalName, LogType: 'Tail', Payload });
    try {
      await putItem(context, { ...item, sealed: other.item.sealed });
      await context.until(
        'start-task to decrypt the sealed credentials of another extraction',
        async () => {
          const { LogResult = '' } = await lambda.send(invoke);
          if (Buffer.from(LogResult, 'base64').includes(wrongContext)) return true;
          // Between two tries of the machine the record is REQUESTED. During one, start-task does not decrypt at all.
          if (context.now().getTime() <= busyUntil * 1_000) return false;
          throw new Unmet(
            `start-task, invoked for ${extractionId} with the sealed credentials of ${other.item.extractionId}, did not fail with ${wrongContext}. Its log shows what it did.`,
          );
        },
        500,
      );
    } finally {
      await putItem(context, item);
    }
    await readUntil(context, extractionId, 'COMPLETED with its own credentials', isDone);
    return passed(`KMS answered ${wrongContext} to start-task`);
  },
};
