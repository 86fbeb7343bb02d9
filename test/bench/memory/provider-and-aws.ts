import { marshall } from '@aws-sdk/util-dynamodb';
import { closedExtraction, extractionIn } from '../../support/data/extraction-fixtures.ts';
import { startAwsStub } from '../cold/aws-stub.ts';

const extractionId = 'extraction-1';
const taskId = 'task-1';
const hour = 3_600_000;
const at = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();

const record = extractionIn('RUNNING', {
  extractionId,
  taskId,
  requestedAt: at(-hour / 4),
  startedAt: at(-hour / 4),
  deadlineAt: at(hour),
  dueAt: at(-1_000),
});

type Sent = { readonly TableName?: string; readonly UpdateExpression?: string };

/** The answers of AWS to the reconcile of one running extraction: a settle, the results, and a close. */
const answerAws = (target: string, body: string): object => {
  const operation = target.split('.').at(-1);
  if (operation === 'GetSecretValue') return { SecretString: 'an-api-key' };
  const { TableName = '', UpdateExpression = '' } = JSON.parse(body) as Sent;
  if (operation === 'GetItem') {
    if (TableName.includes('Breakers')) return {};
    return { Item: marshall(TableName.includes('Tasks') ? { taskId, extractionId } : record) };
  }
  if (operation !== 'UpdateItem') return {};
  // Longer ago than `resultsLagSeconds`, so that results are stored although they lack the requested action.
  const settled = { ...record, status: 'COMPLETED', settledAt: at(-hour / 4) } as const;
  // A record that stays open is reconciled again.
  const isClose = UpdateExpression.includes('REMOVE #dueShard');
  return { Attributes: marshall(isClose ? closedExtraction(settled) : settled) };
};

/**
 * A local server with TLS that plays the provider and AWS for one extraction. The provider answers a read with the bytes
 * of `answerWith`.
 */
export const startProviderAndAws = async () => {
  let answer: Buffer = Buffer.alloc(0);
  const stub = await startAwsStub(({ url, target, body }) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith('/auth/login')) return { status: 200, body: { token: 'a-session-token' } };
    if (pathname.startsWith('/api/')) return { status: 200, body: answer };
    // S3 has no target.
    return { status: 200, body: target === '' ? '' : answerAws(target, body) };
  });
  return {
    ...stub,
    answerWith: (bytes: Buffer): void => {
      answer = bytes;
    },
    /** How many bytes were stored as results since the last call. Only requests to S3 have no target. */
    takeStored: (): number | undefined => {
      const [stored] = stub.take().filter(({ url, target }) => target === '' && !url.includes('/api/'));
      return stored === undefined ? undefined : Buffer.byteLength(stored.body);
    },
  };
};
