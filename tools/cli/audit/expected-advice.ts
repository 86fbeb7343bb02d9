import type { Extraction } from '../../../lib/extraction/record.ts';

type Advice = Extraction['advice'];

/** A code of docs/stream.md, with whatever follows it after a slash. `…` ends a code of which only the beginning is given. */
const isOneOf = (code = '', ...codes: readonly string[]): boolean =>
  codes.some((one) =>
    one.endsWith('…') ? code.startsWith(one.slice(0, -1)) : code === one || code.startsWith(`${one}/`),
  );

type Row = readonly [statuses: string, fits: (record: Extraction) => boolean, advice: Advice];

const any = (): boolean => true;

const notCollected =
  (...codes: readonly string[]) =>
  ({ collectionError }: Extraction) =>
    collectionError !== undefined && (codes.length === 0 || isOneOf(collectionError, ...codes));

const because =
  (...codes: readonly string[]) =>
  ({ reason }: Extraction) =>
    isOneOf(reason, ...codes);

const lastShowed =
  (...codes: readonly string[]) =>
  ({ lastProblem }: Extraction) =>
    isOneOf(lastProblem, ...codes);

const mayPass = ({ actionResults = [] }: Extraction): boolean =>
  actionResults.some(({ errorCode }) => isOneOf(errorCode, 'REQUEST_BLOCK_ERROR', 'ENTITY_API_ERROR'));

/** The table under "Advice" in docs/stream.md, in its order, and the sentence above it: what depends on results is absent without them. */
const table: readonly Row[] = [
  ['CREDENTIALS_WRONG CREDENTIALS_LOCKED', any, 'ask-user'],
  ['COMPLETED PARTIAL FAILED', notCollected('results-too-large'), 'fix-request'],
  [
    'COMPLETED PARTIAL FAILED',
    notCollected(
      ...['results-not-stored', 'InternalError', 'read-ends-process', 'request-data-gone'],
      'task-linked-elsewhere',
    ),
    'operator',
  ],
  ['COMPLETED PARTIAL FAILED', notCollected(), 'request-again'],
  ['FAILED', ({ method }) => method === 'consent', 'request-later'],
  ['COMPLETED PARTIAL FAILED', ({ collectedAt }) => collectedAt === undefined, undefined],
  ['COMPLETED', any, 'none'],
  ['PARTIAL FAILED', mayPass, 'request-later'],
  ['PARTIAL FAILED', any, 'request-again'],
  ['REJECTED', because('user-restricted', 'credentials-refused-before'), 'ask-user'],
  ['REJECTED', because('consent-…'), 'renew-consent'],
  ['REJECTED', because('http-400', 'http-422', 'invalid-request', 'session-token-refused'), 'fix-request'],
  ['REJECTED', any, 'operator'],
  [
    'NOT_STARTED',
    lastShowed('quota-reached', 'http-429', 'login-http-429', 'unreachable', 'held/…', 'login-http-5…'),
    'request-later',
  ],
  ['NOT_STARTED', lastShowed('login-http-4…', 'secret-not-filled', 'setting-missing'), 'operator'],
  ['NOT_STARTED', lastShowed('ciphertext-expired'), 'fix-request'],
  ['NOT_STARTED', any, 'request-again'],
  ['UNCONFIRMED', because('task-linked-elsewhere'), 'operator'],
  ['UNCONFIRMED', any, 'ask-provider'],
  ['TIMED_OUT', ({ dueAt }) => dueAt !== undefined, 'wait'],
  ['TIMED_OUT', notCollected('read-ends-process', 'InternalError'), 'operator'],
  ['TIMED_OUT', any, 'ask-provider'],
];

/** The advice that a record has to have, by the first row that fits. Undefined: none. */
export const expectedAdvice = (record: Extraction): Advice =>
  table.find(([statuses, fits]) => statuses.split(' ').includes(record.status) && fits(record))?.[2];
