import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { allTombstones } from '#lib/aws/dynamo-erasure-store.ts';
import { dynamoExtractionStore } from '#lib/aws/dynamo-extraction-store.ts';
import { extractionsClient } from '#lib/client/index.ts';
import { signedFetch } from '#lib/client/signed-fetch.ts';
import { queueClient } from '../../../tools/cli/aws/queues.ts';
import type { Deployed } from '../deployment.ts';
import { waitMs } from '../time-limits.ts';
import { isAllowed } from './allowed-leaks.ts';
import { keepAnswer, keptAnswers, readLines } from './kept-answers.ts';
import { keptByAws } from './kept-by-aws.ts';
import { keptInFiles } from './kept-in-files.ts';
import { sealedRequests } from './sealed-requests.ts';
import { search } from './search.ts';
import { type Location, locations, type SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** A secret was found where it is not allowed, or a location was searched that the suite left nothing in. */
class SearchForLeaksFailed extends Error {
  override readonly name = 'SearchForLeaksFailed';
}

/** What is searched only as the emulator saves it: of these, it has to save what the stack has. */
const savedServices = [
  'cloudformation',
  'cloudwatch',
  'eventbridge',
  'iam',
  'kms',
  'lambda',
  'secretsmanager',
  'stepfunctions',
];

/** The beginning of every JWT of the sandbox, `{"alg":"HS256`. The rest of a token is random. */
const jwtHead = Buffer.from('{"alg":"HS256"').toString('base64url').slice(0, 18);

/** All secrets that the suite used. */
const secretsOf = async (deployed: Deployed, stackName: string): Promise<readonly Secret[]> => {
  const { client, markers, apiKey, signingKey, secretsFile, outputs } = deployed;
  const { SecretString: fingerprintKey = '' } = await new SecretsManagerClient(client).send(
    new GetSecretValueCommand({ SecretId: `${stackName}/fingerprint-key` }),
  );
  const ofTasks: Secret[] = [];
  for (const TableName of [outputs.TasksTableName, outputs.RefusalsTableName, outputs.StartLineTableName]) {
    for await (const { Items = [] } of paginateScan({ client: new DynamoDBClient(client) }, { TableName })) {
      for (const { callbackToken, credentialsMac } of Items) {
        if (callbackToken?.S !== undefined) ofTasks.push({ kind: 'callback token', value: callbackToken.S });
        if (credentialsMac?.S !== undefined)
          ofTasks.push({ kind: 'MAC of credentials', value: credentialsMac.S });
      }
    }
  }
  return [
    { kind: 'password', value: markers.password },
    { kind: 'username', value: markers.username },
    { kind: 'email', value: markers.email },
    { kind: 'result', value: markers.result },
    { kind: 'webhook field', value: markers.webhookField },
    { kind: 'session token', value: 'sandbox-session-' },
    { kind: 'OTP or Task Token', value: jwtHead },
    { kind: 'address of a PDF', value: '/consent-pdf' },
    { kind: 'API key', value: apiKey },
    { kind: 'signing key', value: signingKey },
    { kind: 'fingerprint key', value: fingerprintKey },
    ...ofTasks,
    ...(await sealedRequests(deployed)),
    ...(await erasedExtractions(deployed)),
    ...(await consents(deployed)),
    ...(await readLines<Secret>(secretsFile)),
  ];
};

/** The ids of what was erased, but of those whose key was used again. */
const erasedExtractions = async ({ client, outputs }: Deployed): Promise<readonly Secret[]> => {
  const dynamo = new DynamoDBClient(client);
  const all: Secret[] = [];
  for await (const { extractionId, erasedAt } of allTombstones(dynamo, outputs.ErasuresTableName ?? '')) {
    const record = await dynamoExtractionStore(dynamo, outputs.ExtractionsTableName ?? '').get(extractionId);
    if (erasedAt !== undefined && record === undefined)
      all.push({ kind: 'erased extraction', value: extractionId });
  }
  return all;
};

/** The consents of all records. */
const consents = async ({ client, outputs }: Deployed): Promise<readonly Secret[]> => {
  const ids = new Set<string>();
  const scan = { TableName: outputs.ExtractionsTableName, ProjectionExpression: 'consentId' };
  for await (const { Items = [] } of paginateScan({ client: new DynamoDBClient(client) }, scan))
    for (const { consentId } of Items) if (consentId?.S !== undefined) ids.add(consentId.S);
  return [...ids].map((value) => ({ kind: 'consent id', value }));
};

/** Runs an extraction that leaves its id wherever extractions leave anything. Returns the id. */
const leaveWitness = async ({
  api,
  callers,
  client,
  markers,
  outputs,
  answersFile,
}: Deployed): Promise<string> => {
  const fetch = signedFetch({ region: client.region, credentials: callers.caller });
  const cosecha = extractionsClient({ apiUrl: api, fetch });
  const username = `${markers.username}-witness`;
  const { extraction } = await cosecha.requestExtraction({
    entity: 'sandbox-bank',
    credentials: { mode: 'raw', value: { username, password: markers.password } },
    actions: [{ id: 'product-balance' }],
  });
  const { extractionId } = extraction;
  const body = JSON.stringify(extraction);
  keepAnswer(answersFile, { request: 'POST /extractions', status: 202, headers: {}, body });
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await delay(100)) {
    if ((await cosecha.getExtraction(extractionId))?.results !== undefined) break;
  }
  // A real dead letter may be missing.
  await queueClient({ client, isEmulated: true }).send(
    new SendMessageCommand({ QueueUrl: outputs.DeadLetterQueueUrl, MessageBody: extractionId }),
  );
  return extractionId;
};

/**
 * Searches everything that a whole run has left for every secret that it used. It calls `stop` in between, because the
 * emulator writes its state when it ends. Throws SearchForLeaksFailed, which fails the run.
 */
export const searchAfterTheSuite = async (
  { directory, stackName, deployed }: { directory: string; stackName: string; deployed: Deployed },
  stop: () => Promise<void>,
): Promise<void> => {
  const startedAt = Date.now();
  const witness = await leaveWitness(deployed);
  const secrets = await secretsOf(deployed, stackName);
  const answers: SearchedItem[] = [];
  for await (const item of keptAnswers(deployed.answersFile)) answers.push(item);
  // These files hold the secrets on purpose.
  await Promise.all([rm(deployed.secretsFile, { force: true }), rm(deployed.answersFile, { force: true })]);

  const everything = async function* (): AsyncGenerator<SearchedItem, void> {
    yield* keptByAws(deployed.client);
    yield* answers;
    yield* keptInFiles(directory);
    await stop();
    const state = join(directory, 'state');
    yield* keptInFiles(state, "the emulator's state");
    await rm(state, { recursive: true, force: true });
    yield* keptInFiles(directory);
  };
  const seen = new Set<Location>();
  const saved = new Set<string>();
  const onItem = ({ location, name, bytes }: SearchedItem): void => {
    if (!seen.has(location) && bytes.includes(witness)) seen.add(location);
    if (location === "the emulator's state" && bytes.includes(stackName)) saved.add(name);
  };
  const leaks = (await search(everything(), secrets, onItem)).filter((leak) => !isAllowed(leak));
  const unseen = [
    ...locations.filter((location) => !seen.has(location)),
    ...savedServices.filter((service) => !saved.has(`${service}.json`)),
  ];
  const problems = [
    ...leaks.map(({ kind, location, name }) => `a secret leaked: ${kind}, in ${location} ${name}`),
    ...unseen.map((location) => `nothing of the suite was found in: ${location}`),
  ];
  if (problems.length > 0) throw new SearchForLeaksFailed(`\n${[...new Set(problems)].join('\n')}`);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.info(`No leak of ${secrets.length} secrets, searched in ${seconds} s.`);
};
