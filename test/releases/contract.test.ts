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

/** What breaks if today's contract differs from the release in one place. */
const afterChange = (file: string, change: (content: Json) => void): readonly string[] => {
  const copy = structuredClone(released[file]) as Json;
  change(copy);
  return breaksOf({ [file]: released[file] }, { [file]: copy });
};

/** The object at a path. Throws where there is none. */
const at = (content: Json, path: string): Json =>
  path
    .split(' ')
    .filter((name) => name !== '')
    .reduce((value, name) => {
      const inner = value[name];
      if (inner === undefined) throw new Error(`${name} of ${path} is not there.`);
      return inner;
    }, content);

const remove = (path: string, name: string) => (content: Json) => void delete at(content, path)[name];
const set = (path: string, name: string, value: unknown) => (content: Json) => {
  at(content, path)[name] = value as Json;
};
const filter = (path: string, name: string, keep: (one: unknown) => boolean) => (content: Json) => {
  const list = at(content, path)[name] as unknown as unknown[];
  at(content, path)[name] = list.filter(keep) as unknown as Json;
};

const record = 'extraction.json $defs CredentialsExtraction';
const request = 'components schemas CredentialsRequest';
const answer = 'components schemas Progress';

describe('a planted break is found', () => {
  test.each([
    [
      'schemas.json',
      'an attribute is gone',
      remove(`${record} properties`, 'entity'),
      'extraction.json: CredentialsExtraction.entity is gone or renamed.',
    ],
    [
      'schemas.json',
      'an attribute may be absent',
      filter(record, 'required', (name) => name !== 'entity'),
      'extraction.json: CredentialsExtraction.entity may be absent now.',
    ],
    [
      'schemas.json',
      'an attribute has another type',
      set(`${record} properties entity`, 'type', 'integer'),
      'extraction.json: CredentialsExtraction.entity may have other values now.',
    ],
    [
      'schemas.json',
      'a closed vocabulary has one more word',
      set(`${record} properties settledBy`, 'enum', ['webhook', 'start', 'reconcile', 'guess']),
      'extraction.json: CredentialsExtraction.settledBy may have other values now.',
    ],
    [
      'schemas.json',
      'an event kind is without its field',
      remove('event.json $defs settled properties', 'outcome'),
      'event.json: settled.outcome is gone or renamed.',
    ],
    ['openapi.json', 'a route is gone', remove('paths', '/consents'), 'GET /consents is gone or renamed.'],
    [
      'openapi.json',
      'a field is refused',
      remove(`${request} properties`, 'reference'),
      'POST /extractions: body.CredentialsRequest.reference is gone or renamed.',
    ],
    [
      'openapi.json',
      'a field is required',
      set(request, 'required', ['entity', 'credentials', 'actions', 'reference']),
      'POST /extractions: body.CredentialsRequest.reference is required now.',
    ],
    [
      'openapi.json',
      'a product is refused',
      filter('components schemas Product', 'enum', (one) => one !== 'tef'),
      'POST /extractions: body.ConsentRequest.product no longer takes every value.',
    ],
    [
      'openapi.json',
      'a text may be shorter only',
      set('components schemas Reference', 'maxLength', 100),
      'POST /extractions: body.CredentialsRequest.reference no longer takes every value.',
    ],
    [
      'openapi.json',
      'an answer is without a field',
      remove(`${answer} properties`, 'advice'),
      'GET /extractions/{extractionId}: 200.CredentialsExtraction.advice is gone or renamed.',
    ],
    [
      'openapi.json',
      'a header is gone',
      remove('components responses Unavailable headers', 'Retry-After'),
      'POST /extractions: 503 has no Retry-After any more.',
    ],
    [
      'settings.json',
      'a setting is gone',
      remove('', 'watchedEntities'),
      'The setting watchedEntities is gone or renamed.',
    ],
    [
      'settings.json',
      'a default is another',
      set('deadlineSeconds', 'default', 3_600),
      'The setting deadlineSeconds has another default.',
    ],
    [
      'settings.json',
      'a range is narrower',
      set('deadlineSeconds', 'range', [60, 1_209_600]),
      'The setting deadlineSeconds no longer takes every value.',
    ],
    [
      'settings.json',
      'a setting is required',
      set('providerClientId', 'required', true),
      'The setting providerClientId is required now.',
    ],
    [
      'stored-resources.json',
      'a table has another logical id',
      remove('default', 'StorageExtractions87B6CC07'),
      'StorageExtractions87B6CC07 (AWS::DynamoDB::Table, default) is gone or renamed, with all that it keeps.',
    ],
    [
      'stored-resources.json',
      'a secret has another name',
      set('default SecretsFingerprintKeyBB293135', 'Name', '"other"'),
      'SecretsFingerprintKeyBB293135 (AWS::SecretsManager::Secret, default) has another Name, so AWS makes a new one.',
    ],
  ] as const)('%s: %s', (file, _what, change, sentence) => {
    expect(afterChange(file, change)).toContain(sentence);
  });

  const names = released['names.json'] as Readonly<Record<string, readonly string[]>>;
  test.each(Object.entries(names))('names.json: one of the %s', (kind, [first = '']) => {
    const gone = afterChange(
      'names.json',
      filter('', kind, (name) => name !== first),
    );
    expect(gone).toEqual([`${kind}: ${first} is gone or renamed.`]);
  });
});

test('additions break nothing', () => {
  const added = structuredClone(released) as unknown as Record<string, Json>;
  const [schemas = {}, api = {}, settings = {}] = ['schemas.json', 'openapi.json', 'settings.json'].map(
    (file) => added[file],
  );
  at(schemas, `${record} properties`).cause = { type: 'string' } as unknown as Json;
  (at(schemas, 'extraction.json $defs ExtractionStatus').anyOf as unknown as Json[]).unshift({
    const: 'PAUSED',
    type: 'string',
  } as unknown as Json);
  at(api, 'components schemas CredentialsRequest properties').priority = {
    type: 'string',
  } as unknown as Json;
  at(api, `${answer} properties`).queue = { type: 'string' } as unknown as Json;
  at(api, 'components schemas PersistedCredentials properties value').maxLength = 9_000 as unknown as Json;
  at(api, 'paths')['/later'] = { get: {} } as Json;
  settings.later = { required: false } as unknown as Json;
  expect(breaksOf(released, added)).toEqual([]);
});
