import { randomUUID } from 'node:crypto';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import { ApiError, NoAnswerError } from '../../../lib/client/api-errors.ts';
import type { ExtractionRequest, RequestedExtraction } from '../../../lib/client/request-extraction.ts';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { queueClient } from '../../cli/aws/queues.ts';
import { readExecution } from '../../cli/aws/read-execution.ts';
import { formatUsername, type Scenario } from '../fake-provider/function/scenario.ts';
import { fakeEntity } from '../settings.ts';
import { type AcceptContext, Unmet } from './check.ts';

/** The prefix of the `reference` of every extraction of a run. The id of its check follows. */
export const referencePrefix = 'acceptance: ';

/** Of one run, as credentials that the last run had refused are not sent again. */
const password = `not-a-password-${randomUUID()}`;

/** A request whose credentials carry the behaviour of the fake provider. */
export const requestOf = (checkId: string, scenario: Partial<Scenario>): ExtractionRequest => ({
  entity: fakeEntity,
  // Only the username has a meaning for the fake provider.
  credentials: { mode: 'raw', value: { username: formatUsername(scenario), password } },
  actions: [{ id: 'product-balance' }, { id: 'tef' }],
  reference: `${referencePrefix}${checkId}`,
});

/** Sends a request under a new key, and returns the id. Throws Unmet unless it is accepted. */
export const extract = async (context: AcceptContext, request: ExtractionRequest): Promise<string> => {
  const { extraction } = await extractWithKey(context, request, context.randomId());
  return extraction.extractionId;
};

export const extractWithKey = async (
  { api }: AcceptContext,
  request: ExtractionRequest,
  idempotencyKey: string,
): Promise<RequestedExtraction> => {
  try {
    return await api.request(request, idempotencyKey);
  } catch (cause) {
    if (!(cause instanceof ApiError || cause instanceof NoAnswerError)) throw cause;
    throw new Unmet(`POST /extractions: ${cause.message} The log of request-extraction has the cause.`, {
      cause,
    });
  }
};

export const readExtraction = async ({ api }: Pick<AcceptContext, 'api'>, extractionId: string) => {
  const { status, body } = await api.call('GET', `/extractions/${extractionId}`);
  if (status === 200) return JSON.parse(body) as PublicExtraction;
  throw new Unmet(
    `GET /extractions/${extractionId} was answered ${status}. The log of get-extraction has the cause.`,
  );
};

/** Between two reads of one extraction, in milliseconds. */
const readEveryMs = 1_000;

export const describeExtraction = ({
  status,
  reason,
  settledBy,
  collectionError,
}: PublicExtraction): string =>
  [status, settledBy && `settled by ${settledBy}`, reason, collectionError].filter(Boolean).join(', ');

/**
 * Reads an extraction until it fits, and returns it. `what` is its expected state, such as `COMPLETED`. It ends with the
 * time of the check; the failure then names the extraction and its last state.
 */
export const readUntil = async (
  context: AcceptContext,
  extractionId: string,
  what: string,
  fits: (extraction: PublicExtraction) => boolean,
): Promise<PublicExtraction> => {
  context.waitFor(`extraction ${extractionId} to be ${what}`);
  for (;;) {
    // API Gateway may answer a single read 5xx.
    const read = await readExtraction(context, extractionId).catch((error: unknown) => {
      if (!(error instanceof Unmet)) throw error;
      return undefined;
    });
    if (read !== undefined && fits(read)) return read;
    const now = read === undefined ? 'cannot be read' : `is ${describeExtraction(read)}`;
    context.waitFor(
      `extraction ${extractionId} to be ${what} (it ${now}; \`cosecha get ${extractionId}\` has the rest)`,
    );
    await context.sleep(readEveryMs);
  }
};

export const extractUntilDone = async (
  context: AcceptContext,
  checkId: string,
  scenario: Partial<Scenario>,
  what: string,
): Promise<PublicExtraction> =>
  readUntil(context, await extract(context, requestOf(checkId, scenario)), what, isDone);

export const readHistory = async ({ client, deployment }: AcceptContext, extractionId: string) => {
  const arn = executionArn(deployment.output('StateMachineArn'), extractionId);
  return (await readExecution(new SFNClient(client), arn))?.events ?? [];
};

/** Whether it has an outcome, and its results are stored or will not be. */
export const isDone = ({ status, settledAt, collectedAt, collectionError }: PublicExtraction): boolean =>
  settledAt !== undefined &&
  (collectedAt !== undefined ||
    collectionError !== undefined ||
    ['REJECTED', 'UNCONFIRMED', 'NOT_STARTED'].includes(status));

/** Throws Unmet unless it has this status and was settled by this part of the service. */
export const expectOutcome = (
  extraction: PublicExtraction,
  status: string,
  settledBy: PublicExtraction['settledBy'],
  lookAt: string,
): void => {
  if (extraction.status === status && extraction.settledBy === settledBy) return;
  throw new Unmet(
    `Extraction ${extraction.extractionId} is ${describeExtraction(extraction)}, not ${status}, settled by ${String(settledBy)}. ${lookAt}`,
  );
};

type Wanted = { readonly what: string; readonly fits: (body: string) => boolean };

/** Waits for the first message of a queue that fits, past ones included. Returns its body. */
export const waitForMessage = async (
  { deployment, received, signal, until }: AcceptContext,
  QueueUrl: string,
  { what, fits }: Wanted,
): Promise<string> => {
  const sqs = queueClient(deployment);
  return until(what, async () => {
    const found = received.find(fits);
    if (found !== undefined) return found;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
      { abortSignal: signal },
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      received.push(Body);
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return false;
  });
};
