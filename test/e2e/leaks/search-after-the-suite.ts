import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { signedFetch } from '../../../lib/client/signed-fetch.ts';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { queueClient } from '../../../tools/cli/aws/queues.ts';
import type { Deployed } from '../deployment.ts';
import { retryOn5xx } from '../support/retry-on-5xx.ts';
import { waitMs } from '../time-limits.ts';
import { isAllowed } from './allowed-leaks.ts';
import { keepAnswer, keptAnswers } from './kept-answers.ts';
import { keptByAws } from './kept-by-aws.ts';
import { keptInFiles } from './kept-in-files.ts';
import { sealedRequests } from './sealed-requests.ts';
import { type Leak, type Searched, search } from './search.ts';
import type { Location, SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** A secret was found where it is not allowed, or a location was searched that the suite left nothing in. */
class SearchForLeaksFailed extends Error {
  override readonly name = 'SearchForLeaksFailed';
}

/** The beginning of every JWT of the sandbox, `{"alg":"HS256`. The rest of a token is random. */
const jwtHead = Buffer.from('{"alg":"HS256"').toString('base64url').slice(0, 18);

/** All secrets that the suite used. */
const secretsOf = async (deployed: Deployed, stackName: string): Promise<readonly Secret[]> => {
  const { client, markers, apiKey, signingKey, secretsFile, outputs } = deployed;
  const { SecretString: fingerprintKey = '' } = await new SecretsManagerClient(client).send(
    new GetSecretValueCommand({ SecretId: `${stackName}/fingerprint-key` }),
  );
  const ofTasks: Secret[] = [];
  for (const TableName of [outputs.TasksTableName, outputs.RefusalsTableName]) {
    for await (const { Items = [] } of paginateScan({ client: new DynamoDBClient(client) }, { TableName })) {
      for (const { callbackToken, credentialsMac } of Items) {
        if (callbackToken?.S !== undefined) ofTasks.push({ kind: 'callback token', value: callbackToken.S });
        if (credentialsMac?.S !== undefined)
          ofTasks.push({ kind: 'MAC of credentials', value: credentialsMac.S });
      }
    }
  }
  const lines = (await readFile(secretsFile, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '');
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
    ...lines.map((line) => JSON.parse(line) as Secret),
  ];
};

/** Runs an extraction that leaves its id wherever extractions leave anything. Returns the id. */
const leaveWitness = async (deployed: Deployed): Promise<string> => {
  const { api, callers, client, markers, outputs, answersFile } = deployed;
  const signed = signedFetch({ region: client.region, credentials: callers.caller });
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({
      entity: 'sandbox-bank',
      credentials: {
        mode: 'raw',
        value: { username: `${markers.username}-witness`, password: markers.password },
      },
      actions: [{ id: 'product-balance' }],
    }),
  };
  const started = await retryOn5xx(() => signed(`${api}/extractions`, request));
  const body = await started.text();
  keepAnswer(answersFile, { request: 'POST /extractions', status: started.status, headers: {}, body });
  const { extractionId } = JSON.parse(body) as PublicExtraction;
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await delay(100)) {
    const answer = await signed(`${api}/extractions/${extractionId}`);
    if (((await answer.json()) as PublicExtraction).results !== undefined) break;
  }
  // A real dead letter may be missing.
  await queueClient({ client, isEmulated: true }).send(
    new SendMessageCommand({ QueueUrl: outputs.DeadLetterQueueUrl, MessageBody: extractionId }),
  );
  return extractionId;
};

async function* all(
  ...sources: readonly (AsyncIterable<SearchedItem> | Iterable<SearchedItem>)[]
): AsyncGenerator<SearchedItem, void> {
  for (const source of sources) yield* source;
}

/** Locations that must contain the witness. The others must contain the stack's name. */
const ofExtractions: readonly Location[] = [
  'log group',
  'execution',
  'table',
  'stream',
  'queue',
  'bucket',
  'answer',
  'file',
  "the emulator's state",
];
const ofTheStack: readonly Location[] = [
  'state machine',
  'function',
  'stack',
  'rule',
  'secret',
  'key',
  'role',
  'alarm',
];

const totalsText = (searched: readonly Searched[]): string => {
  const lines = searched.flatMap(({ totals }) =>
    [...totals].map(
      ([location, { items, bytes }]) => `${location} ${items} (${Math.ceil(bytes / 1024)} KiB)`,
    ),
  );
  return lines.join(', ');
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

  const seen = new Set<Location>();
  const onItem = ({ location, bytes }: SearchedItem): void => {
    const expected = ofExtractions.includes(location) ? witness : stackName;
    if (!seen.has(location) && bytes.includes(expected)) seen.add(location);
  };
  const before = await search(
    all(keptByAws(deployed.client), answers, keptInFiles(directory)),
    secrets,
    onItem,
  );
  await stop();
  const state = join(directory, 'state');
  const dumped = await search(keptInFiles(state, "the emulator's state"), secrets, onItem);
  await rm(state, { recursive: true, force: true });
  const after = await search(keptInFiles(directory), secrets, onItem);

  const searched = [before, dumped, after];
  const leaks = searched.flatMap((one) => one.leaks).filter((leak) => !isAllowed(leak));
  const unseen = [...ofExtractions, ...ofTheStack].filter((location) => !seen.has(location));
  const problems = [
    ...leaks.map(({ kind, location, name }: Leak) => `a secret leaked: ${kind}, in ${location} ${name}`),
    ...unseen.map((location) => `nothing of the suite was found in: ${location}`),
  ];
  if (problems.length > 0) throw new SearchForLeaksFailed(`\n${[...new Set(problems)].join('\n')}`);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.info(`No leak of ${secrets.length} secrets, searched in ${seconds} s: ${totalsText(searched)}`);
};
