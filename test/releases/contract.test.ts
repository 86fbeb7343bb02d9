import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { breaksOf, versionThatBreaks } from './breaks.ts';
import { contractOfToday } from './contract.ts';
import { isBefore, readRelease, releases, version } from './release.ts';
import { storedResources } from './stored-resources.ts';

const today = contractOfToday();
const [last = ''] = releases.slice(-1);
const released = Object.fromEntries(Object.keys(today).map((file) => [file, readRelease(last, file)]));

test('nothing that the last release promised is broken, or the version says so', () => {
  const needed = versionThatBreaks(last);
  const allowed = !isBefore(version, needed);
  expect(
    allowed ? [] : breaksOf(released, today).map((what) => `${what} This needs version ${needed}.`),
  ).toEqual([]);
});

test('attributes of the stream change only with another schemaVersion (docs/stream.md, "Guarantees")', () => {
  const file = 'schemas.json';
  const versionIn = (contract: object) =>
    at(contract as Json, `${file} extraction.json $defs CredentialsExtraction properties schemaVersion`)
      .const;
  if (versionIn(today) !== versionIn(released)) return;
  expect(breaksOf({ [file]: released[file] }, today)).toEqual([]);
});

test('no setting renames or replaces what keeps data, messages or executions', () => {
  const { default: byDefault, 'with every setting changed': changed } = storedResources();
  const before = { 'stored-resources.json': { default: byDefault } };
  expect(breaksOf(before, { 'stored-resources.json': { default: changed } })).toEqual([]);
});

test.each([
  ['0.1.0', '0.2.0'],
  ['1.4.2', '2.0.0'],
])('what breaks %s needs %s', (release, needed) => {
  expect(versionThatBreaks(release)).toBe(needed);
});

type Json = { [name: string]: Json };
type Change = (contract: Json) => void;

/** The object at a path, which begins with the file. Throws where there is none. */
const at = (contract: Json, path: string): Json =>
  path.split(' ').reduce((value, name) => {
    const inner = value[name];
    if (inner === undefined) throw new Error(`${name} of ${path} is not there.`);
    return inner;
  }, contract);

const change =
  (path: string, name: string, to: (value: unknown) => unknown): Change =>
  (contract) => {
    const object = at(contract, path);
    object[name] = to(object[name]) as Json;
  };
const set = (path: string, name: string, value: unknown): Change => change(path, name, () => value);
const remove = (path: string, name: string): Change => set(path, name, undefined);
const drop = (path: string, name: string, gone: string): Change =>
  change(path, name, (list) => (list as readonly string[]).filter((one) => one !== gone));

/** What breaks if today's contract differs from the release in these places. */
const afterChanges = (...changes: readonly Change[]): readonly string[] => {
  const changed = structuredClone(released) as unknown as Json;
  for (const one of changes) one(changed);
  // As JSON, which has nothing that is undefined.
  const after = JSON.parse(JSON.stringify(changed));
  const files = Object.keys(released).filter((file) => !isDeepStrictEqual(after[file], released[file]));
  return files.flatMap((file) => breaksOf({ [file]: released[file] }, after));
};

const record = 'schemas.json extraction.json $defs CredentialsExtraction';
const request = 'openapi.json components schemas CredentialsRequest';
const answer = 'openapi.json components schemas Progress';

describe('a planted break is found', () => {
  test.each([
    ['CredentialsExtraction.entity is gone or renamed.', remove(`${record} properties`, 'entity')],
    ['CredentialsExtraction.entity may be absent now.', drop(record, 'required', 'entity')],
    ['entity may have other values now.', set(`${record} properties entity`, 'type', 'integer')],
    [
      'settledBy may have other values now.',
      set(`${record} properties settledBy`, 'enum', ['webhook', 'start', 'reconcile', 'guess']),
    ],
    [
      'settled.outcome is gone or renamed.',
      remove('schemas.json event.json $defs settled properties', 'outcome'),
    ],
    ['GET /consents is gone or renamed.', remove('openapi.json paths', '/consents')],
    ['CredentialsRequest.reference is gone or renamed.', remove(`${request} properties`, 'reference')],
    [
      'reference is required now.',
      set(request, 'required', ['entity', 'credentials', 'actions', 'reference']),
    ],
    [
      'ConsentRequest.product no longer takes every value.',
      drop('openapi.json components schemas Product', 'enum', 'tef'),
    ],
    [
      'CredentialsRequest.reference no longer takes every value.',
      set('openapi.json components schemas Reference', 'maxLength', 100),
    ],
    ['200.CredentialsExtraction.advice is gone or renamed.', remove(`${answer} properties`, 'advice')],
    [
      '503 has no Retry-After any more.',
      remove('openapi.json components responses Unavailable headers', 'Retry-After'),
    ],
    ['watchedEntities is gone or renamed.', remove('settings.json', 'watchedEntities')],
    ['deadlineSeconds has another default.', set('settings.json deadlineSeconds', 'default', 3_600)],
    [
      'deadlineSeconds no longer takes every value.',
      set('settings.json deadlineSeconds', 'range', [60, 1_209_600]),
    ],
    ['providerClientId is required now.', set('settings.json providerClientId', 'required', true)],
    [
      'StorageExtractions87B6CC07 (AWS::DynamoDB::Table, default) is gone',
      remove('stored-resources.json default', 'StorageExtractions87B6CC07'),
    ],
    [
      'has another Name, so AWS makes a new one.',
      set('stored-resources.json default SecretsFingerprintKeyBB293135', 'Name', '"other"'),
    ],
    [
      'the index due has other keys or another projection',
      set('stored-resources.json default StorageExtractions87B6CC07', 'index due', '{}'),
    ],
    [
      'index one, index two in one update',
      change('stored-resources.json default', 'StorageTasks7A5B7490', (table) => ({
        ...Object(table),
        'index one': '{}',
        'index two': '{}',
      })),
    ],
    [
      'index batch, index other in one update',
      change('stored-resources.json default', 'StorageExtractions87B6CC07', (table) => {
        const { 'index batch': _batch, ...rest } = Object(table);
        return { ...rest, 'index other': '{}' };
      }),
    ],
  ])('%s', (sentence, planted) => {
    expect(afterChanges(planted).join(' ')).toContain(sentence);
  });

  test('one new index, or one less, is none', () => {
    const table = 'stored-resources.json default StorageExtractions87B6CC07';
    expect(afterChanges(set(table, 'index other', '{}'))).toEqual([]);
    expect(afterChanges(remove(table, 'index batch'))).toEqual([]);
  });

  const names = released['names.json'] as Readonly<Record<string, readonly string[]>>;
  test.each(Object.entries(names))('names.json: one of the %s', (kind, [first = '']) => {
    const gone = afterChanges(drop('names.json', kind, first));
    expect(gone).toEqual([`${kind}: ${first} is gone or renamed.`]);
  });
});

test('additions break nothing', () => {
  const breaks = afterChanges(
    set(`${record} properties`, 'cause', { type: 'string' }),
    change('schemas.json extraction.json $defs ExtractionStatus', 'anyOf', (known) => [
      { const: 'PAUSED', type: 'string' },
      ...(known as readonly Json[]),
    ]),
    set(`${request} properties`, 'priority', { type: 'string' }),
    set(`${answer} properties`, 'queue', { type: 'string' }),
    set('openapi.json components schemas PersistedCredentials properties value', 'maxLength', 9_000),
    set('openapi.json paths', '/later', { get: {} }),
    set('settings.json', 'later', { required: false }),
    drop('names.json', 'command line', 'get <extractionId>'),
    change('names.json', 'command line', (list) => [...(list as []), 'get optional <extractionId>']),
  );
  expect(breaks).toEqual([]);
});
