import type { Extraction } from '../../../lib/extraction/record.ts';

type Advice = Extraction['advice'];
type Fits = (record: Extraction) => boolean;
type CodeField = 'reason' | 'lastProblem' | 'collectionError';

/** Whether a code is one of these, with whatever follows it after a slash. `…` ends one of which only the beginning is given. */
const isOneOf = (code: string, codes: readonly string[]): boolean =>
  codes.some((one) =>
    one.endsWith('…') ? code.startsWith(one.slice(0, -1)) : code === one || code.startsWith(`${one}/`),
  );

/** The record has one of these codes there. Without codes: any. */
const has =
  (field: CodeField, ...codes: readonly string[]): Fits =>
  ({ [field]: code }) =>
    code !== undefined && (codes.length === 0 || isOneOf(code, codes));

const mayPass: Fits = ({ actionResults = [] }) =>
  actionResults.some(({ errorCode = '' }) => isOneOf(errorCode, ['REQUEST_BLOCK_ERROR', 'ENTITY_API_ERROR']));

const refused = ['http-400', 'http-422', 'invalid-request', 'session-token-refused'];
const held = [
  'quota-reached',
  'waited-too-long',
  'http-429',
  'login-http-429',
  'unreachable',
  'held/…',
  'login-http-5…',
];
const ours = ['results-not-stored', 'InternalError', 'request-data-gone'];

/** The table under "Advice" in docs/stream.md, in its order, and the sentence above it: what depends on results is absent without them. */
const table: readonly (readonly [statuses: string, fits: Fits | 'any', advice: Advice])[] = [
  ['CREDENTIALS_WRONG CREDENTIALS_LOCKED', 'any', 'ask-user'],
  ['COMPLETED PARTIAL FAILED', has('collectionError', 'results-too-large'), 'fix-request'],
  ['COMPLETED PARTIAL FAILED', has('collectionError', ...ours, 'task-linked-elsewhere'), 'operator'],
  ['COMPLETED PARTIAL FAILED', has('collectionError'), 'request-again'],
  ['FAILED', ({ method }) => method === 'consent', 'request-later'],
  ['COMPLETED PARTIAL FAILED', ({ collectedAt }) => collectedAt === undefined, undefined],
  ['COMPLETED', has('lastProblem', 'results-incomplete'), 'request-again'],
  ['COMPLETED', 'any', 'none'],
  ['PARTIAL FAILED', mayPass, 'request-later'],
  ['PARTIAL FAILED', 'any', 'request-again'],
  ['REJECTED', has('reason', 'user-restricted', 'credentials-refused-before'), 'ask-user'],
  ['REJECTED', has('reason', 'consent-…'), 'renew-consent'],
  ['REJECTED', has('reason', ...refused), 'fix-request'],
  ['REJECTED', 'any', 'operator'],
  ['NOT_STARTED', has('lastProblem', ...held), 'request-later'],
  ['NOT_STARTED', has('lastProblem', 'login-http-4…', 'secret-not-filled', 'setting-missing'), 'operator'],
  ['NOT_STARTED', has('lastProblem', 'ciphertext-expired'), 'fix-request'],
  ['NOT_STARTED', has('lastProblem', 'cancelled', 'erased'), 'none'],
  ['NOT_STARTED', 'any', 'request-again'],
  ['UNCONFIRMED', has('reason', 'task-linked-elsewhere'), 'operator'],
  ['UNCONFIRMED', 'any', 'ask-provider'],
  ['TIMED_OUT', ({ dueAt }) => dueAt !== undefined, 'wait'],
  ['TIMED_OUT', has('collectionError', 'InternalError'), 'operator'],
  ['TIMED_OUT', 'any', 'ask-provider'],
];

/** The advice that a record has to have, by the first row that fits. Undefined: none. */
export const expectedAdvice = (record: Extraction): Advice => {
  // What somebody asked to have erased is not requested again.
  if (record.erasingAt !== undefined && record.settledAt !== undefined && record.dueAt === undefined)
    return 'none';
  return table.find(
    ([statuses, fits]) => statuses.split(' ').includes(record.status) && (fits === 'any' || fits(record)),
  )?.[2];
};
