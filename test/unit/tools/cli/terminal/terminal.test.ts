import { expect, onTestFinished, test, vi } from 'vitest';
import { at, closedExtraction, extraction, extractionIn, iso } from '#support/data/extraction-fixtures.ts';
import { explainFailure } from '#tools/cli/terminal/explain-failure.ts';
import { formatSeconds } from '#tools/cli/terminal/format-seconds.ts';
import {
  describeDue,
  describeProgress,
  describeView,
  operatorView,
} from '#tools/cli/terminal/operator-view.ts';
import { parseDuration, parseSince } from '#tools/cli/terminal/parse-time.ts';

test('an operator sees a record without its fingerprint, in one order whatever the order of the row', () => {
  const row = extraction();
  const reversed = Object.fromEntries(Object.entries({ ...row, later: 1 }).reverse()) as typeof row;
  const { fingerprint: _fingerprint, ...rest } = row;
  expect(operatorView(reversed)).toEqual({ ...rest, later: 1 });
  const names = Object.keys(operatorView(reversed));
  expect(names.slice(0, 3)).toEqual(['schemaVersion', 'extractionId', 'status']);
  expect(names.at(-1)).toBe('later');
  expect(describeView({ status: 'RUNNING', actions: [{ id: 'tef' }] })).toEqual([
    'status   RUNNING',
    'actions  [{"id":"tef"}]',
  ]);
});

test('status, reason, collection and close are one phrase', () => {
  const byWebhook = { settledBy: 'webhook' } as const;
  const actionResults = [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }];
  const records = [
    extractionIn('RUNNING'),
    extractionIn('TIMED_OUT'),
    closedExtraction({ ...byWebhook, status: 'PARTIAL', collectionError: 'no-results' }),
    closedExtraction({ ...byWebhook, status: 'FAILED', actionResults }),
  ];
  expect(records.map(describeProgress)).toEqual([
    'RUNNING',
    'TIMED_OUT (deadline-passed, settled by reconcile)',
    'PARTIAL (settled by webhook), not collected: no-results, closed',
    'FAILED (tef: ACTION_ERROR, settled by webhook), closed',
  ]);
});

test('a record is overdue after three intervals of the sweep, and before that it is due', () => {
  expect(describeDue(iso(100), at(40), 5)).toBe('in 1 min');
  expect(describeDue(iso(40), at(40.4), 5)).toBe('due for 0 s');
  expect(describeDue(iso(0), at(900), 5)).toBe('due for 15 min');
  expect(describeDue(iso(0), at(901), 5)).toBe('OVERDUE by 15 min 1 s');
  expect(describeDue(undefined, at(0), 5)).toBe('');
});

const failure = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });

const caller = 'arn:aws:iam::111122223333:user/op';
const table = 'arn:aws:dynamodb:us-east-1:111122223333:table/T';
const notAuthorized = `User: ${caller} is not authorized to perform: dynamodb:GetItem on resource: ${table} because no identity-based policy allows the dynamodb:GetItem action`;
const permission = `AWS does not allow ${caller} to dynamodb:GetItem on ${table}. That permission is missing; docs/cli.md names the policy of each command.`;
const none = failure('CredentialsProviderError', 'None.');
const refused = failure('Error', 'x', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 });
const sso = failure('TokenProviderError', 'Run aws sso login');
const mfa = failure('CredentialsProviderError', 'Profile p requires multi-factor authentication');
const noRoot =
  'The certificate is not trusted (UNABLE_TO_GET_ISSUER_CERT_LOCALLY). Name its authority in NODE_EXTRA_CA_CERTS, such as that of a proxy of your company.';
const inProfile =
  'There are no AWS credentials in the profile "nope" (None). Check its name with aws configure list-profiles, and log in to it.';

test.each([
  [failure('AccessDeniedException', notAuthorized), permission],
  [failure('AccessDenied', 'Access Denied'), 'AWS does not allow it: Access Denied'],
  [none, 'There are no AWS credentials (None). Log in, or name a profile with --profile.'],
  [none, inProfile, 'nope'],
  [failure('ExpiredTokenException', 'x'), 'The AWS credentials have expired. Log in again.'],
  [
    failure('Error', 'x', { code: 'ENOTFOUND', hostname: 'sts.eu-west-1.amazonaws.com' }),
    'sts.eu-west-1.amazonaws.com does not answer (ENOTFOUND). Check the region, the network and HTTPS_PROXY.',
  ],
  [refused, '127.0.0.1:9 does not answer (ECONNREFUSED). Check its address, and that it runs.'],
  [
    sso,
    'The login of AWS SSO is over, or was never made (Run aws sso login). Run: aws sso login --profile nope',
    'nope',
  ],
  [
    mfa,
    `These credentials need the code of an MFA device (${mfa.message}). Run the command at a terminal, which asks for it.`,
  ],
  // As the SDK throws it, and as fetch does.
  [failure('Error', 'x', { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', $metadata: { attempts: 1 } }), noRoot],
  [
    new TypeError('fetch failed', {
      cause: failure('Error', 'x', { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }),
    }),
    noRoot,
  ],
  [
    failure('Error', 'x', { code: 'CERT_HAS_EXPIRED' }),
    "The certificate is not valid (CERT_HAS_EXPIRED). Check the address, and this machine's clock.",
  ],
  [
    failure('TimeoutError', 'slow', { $metadata: { attempts: 3 } }),
    'AWS did not answer (TimeoutError: slow).',
  ],
  [
    failure('Throttling', 'Slow down', { $metadata: { httpStatusCode: 400 } }),
    'AWS answered Throttling: Slow down',
  ],
  [new TypeError('undefined is not a function'), undefined],
])('%s is explained as: %s', (error, sentence, profile?: string) => {
  expect(explainFailure(error, profile)).toBe(sentence);
});

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59.6, '1 min'],
  [3_600, '1 h'],
  [11_100, '3 h 5 min'],
  [200_000, '2 d 7 h'],
  [86_405, '1 d'],
])('%d seconds are formatted as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test.each([
  ['90s', 90],
  ['15min', 900],
  ['15', undefined],
  ['-2h', undefined],
  ['2m', undefined],
])('the duration "%s" has %s seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  ['2h', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T08:00:00Z', '2026-11-22T08:00:00.000Z'],
  ['2026-11-22T08:00:00+03:00', '2026-11-22T05:00:00.000Z'],
  ['2026-11-22T08:00:00-0300', '2026-11-22T11:00:00.000Z'],
  ['2026-11-22', '2026-11-22T00:00:00.000Z', 'UTC'],
  ['2026-11-22T08:00', '2026-11-22T08:00:00.000Z', 'UTC'],
  ['2026-11-22 08:00:00', '2026-11-22T08:00:00.000Z', 'UTC'],
  ['2026-11-22T08:00:00.5', '2026-11-22T08:00:00.500Z', 'UTC'],
  ['10m', undefined],
  ['2026-11-22T', undefined],
  ['yesterday', undefined],
  ['2026-13-01', undefined],
  ['11', undefined],
])('since "%s" is since %s at noon, in any zone of this machine', (text, since, zone?: string) => {
  vi.stubEnv('TZ', 'America/Santiago');
  onTestFinished(() => void vi.unstubAllEnvs());
  const parsed = parseSince(text);
  expect(parsed?.note).toBe(zone && `${text} is taken as UTC: ${since}.`);
  expect(parsed?.(new Date('2026-11-22T12:00:00Z')).toISOString()).toBe(since);
  expect(parsed?.text).toBe(since && text);
});
