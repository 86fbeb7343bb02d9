import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { signedFetch } from '../../../lib/cli/aws/signed-fetch.ts';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import type { Deployed } from '../deployment.ts';
import { isAllowed } from './allowed.ts';
import { keepAnswer, keptAnswers } from './answers.ts';
import { keptByAws } from './kept-by-aws.ts';
import { keptInFiles } from './kept-in-files.ts';
import { type Leak, type Searched, search } from './search.ts';
import type { Location, SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** Secrets were found where they do not belong, or a place was searched in which nothing could have been found. */
class SearchForLeaksFailed extends Error {
  override readonly name = 'SearchForLeaksFailed';
}

/** How every token of the sandbox begins that is a JWT: `{"alg":"HS256`. The rest of a token is random. */
const jwtHead = Buffer.from('{"alg":"HS256"').toString('base64url').slice(0, 18);

/** Everything that the suite had to do with and nobody else may see. */
const secretsOf = async (deployed: Deployed, stackName: string): Promise<readonly Secret[]> => {
  const { client, marks, apiKey, signingKey, secretsFile, outputs } = deployed;
  const { SecretString: fingerprintKey = '' } = await new SecretsManagerClient(client).send(
    new GetSecretValueCommand({ SecretId: `${stackName}/fingerprint-key` }),
  );
  const callbackTokens: Secret[] = [];
  const scan = paginateScan(
    { client: new DynamoDBClient(client) },
    { TableName: outputs.TasksTableName, ProjectionExpression: 'callbackToken' },
  );
  for await (const { Items = [] } of scan) {
    for (const { callbackToken } of Items) {
      if (callbackToken?.S !== undefined)
        callbackTokens.push({ kind: 'callback token', value: callbackToken.S });
    }
  }
  const lines = (await readFile(secretsFile, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '');
  return [
    { kind: 'password', value: marks.password },
    { kind: 'username', value: marks.username },
    { kind: 'email', value: marks.email },
    { kind: 'result', value: marks.result },
    { kind: 'webhook field', value: marks.webhookField },
    { kind: 'session token', value: 'sandbox-session-' },
    { kind: 'OTP or Task Token', value: jwtHead },
    { kind: 'address of a PDF', value: '/consent-pdf' },
    { kind: 'API key', value: apiKey },
    { kind: 'signing key', value: signingKey },
    { kind: 'fingerprint key', value: fingerprintKey },
    ...callbackTokens,
    ...lines.map((line) => JSON.parse(line) as Secret),
  ];
};

/** An extraction that is to be seen wherever extractions leave anything; returns its id. */
const leaveWitness = async (deployed: Deployed): Promise<string> => {
  const { api, callers, client, marks, outputs, answersFile } = deployed;
  const signed = signedFetch({ region: client.region, credentials: callers.caller });
  const started = await signed(`${api}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      entity: 'sandbox-bank',
      credentials: {
        mode: 'raw',
        value: { username: `${marks.username}-witness`, password: marks.password },
      },
      actions: [{ id: 'product-balance' }],
    }),
  });
  const body = await started.text();
  keepAnswer(answersFile, { asked: 'POST /extractions', status: started.status, headers: {}, body });
  const { extractionId } = JSON.parse(body) as PublicExtraction;
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await signed(`${api}/extractions/${extractionId}`);
    if (((await answer.json()) as PublicExtraction).results !== undefined) break;
    await delay(100);
  }
  // Most runs leave no dead letter.
  await new SQSClient(client).send(
    new SendMessageCommand({ QueueUrl: outputs.DeadLetterQueueUrl, MessageBody: extractionId }),
  );
  return extractionId;
};

async function* all(
  ...sources: readonly (AsyncIterable<SearchedItem> | Iterable<SearchedItem>)[]
): AsyncGenerator<SearchedItem, void> {
  for (const source of sources) yield* source;
}

/** Places in which the witness itself is to be seen; of all the others, the stack's name. */
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

const totals = (searched: readonly Searched[]): string => {
  const lines = searched.flatMap(({ places }) =>
    [...places].map(
      ([location, { pieces: items, bytes }]) => `${location} ${items} (${Math.ceil(bytes / 1024)} KiB)`,
    ),
  );
  return lines.join(', ');
};

/**
 * Searches everything that is left of a whole run for every secret that went into it, `stop` in between, as the
 * emulator writes its state down when it ends. Throws SearchForLeaksFailed, which fails the run.
 */
export const searchAfterTheSuite = async (
  { directory, stackName, deployed }: { directory: string; stackName: string; deployed: Deployed },
  stop: () => Promise<void>,
): Promise<void> => {
  const begun = Date.now();
  const witness = await leaveWitness(deployed);
  const secrets = await secretsOf(deployed, stackName);
  const answers: SearchedItem[] = [];
  for await (const item of keptAnswers(deployed.answersFile)) answers.push(item);
  // What the suite wrote down for this search is not what leaked.
  await Promise.all([rm(deployed.secretsFile, { force: true }), rm(deployed.answersFile, { force: true })]);

  const seen = new Set<Location>();
  const onPiece = ({ location, bytes }: SearchedItem): void => {
    const sign = ofExtractions.includes(location) ? witness : stackName;
    if (!seen.has(location) && bytes.includes(sign)) seen.add(location);
  };
  const before = await search(
    all(keptByAws(deployed.client), answers, keptInFiles(directory)),
    secrets,
    onPiece,
  );
  await stop();
  const state = join(directory, 'state');
  const dumped = await search(keptInFiles(state, "the emulator's state"), secrets, onPiece);
  await rm(state, { recursive: true, force: true });
  const after = await search(keptInFiles(directory), secrets, onPiece);

  const searched = [before, dumped, after];
  const leaks = searched.flatMap((one) => one.leaks).filter((leak) => !isAllowed(leak));
  const unseen = [...ofExtractions, ...ofTheStack].filter((location) => !seen.has(location));
  const problems = [
    ...leaks.map(({ kind, location, name }: Leak) => `a secret leaked: ${kind}, in ${location} ${name}`),
    ...unseen.map((location) => `nothing that belongs there was seen in: ${location}`),
  ];
  if (problems.length > 0) throw new SearchForLeaksFailed(`\n${[...new Set(problems)].join('\n')}`);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  console.info(`No leak of ${secrets.length} secrets, after ${seconds} s in: ${totals(searched)}`);
};
