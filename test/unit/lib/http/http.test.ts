import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { closedObject } from '#lib/http/body-fields.ts';
import { callerFromPrincipalArn, callerFromUserArn, identifyCaller } from '#lib/http/caller-and-trace.ts';
import { parseRequestBody } from '#lib/http/parse-request-body.ts';
import { problem } from '#lib/http/problem.ts';

const assumed = (name: string): string => `arn:aws:sts::111122223333:assumed-role/${name}`;

describe('the caller of a request', () => {
  test.each([
    ['i-0abc', 'a sister container is the same caller'],
    ['another@session,=.-', 'a sister container is the same caller'],
    ['Reader', 'it is not the role whose name its session bears'],
  ])('is a role without its session’s name %s: %s', (session) => {
    expect(callerFromUserArn(assumed(`Service/${session}`))).toBe(assumed('Service'));
  });

  test.each(['arn:aws:iam::111122223333:user/team/name', 'arn:aws:iam::111122223333:root', ''])(
    '%s stays as it is',
    (arn) => {
      expect(callerFromUserArn(arn)).toBe(arn);
    },
  );
});

// The caller that its sessions are.
test.each([
  ['arn:aws:iam::111122223333:role/Reader', assumed('Reader')],
  ['arn:aws:iam::111122223333:role/team/a/Reader', assumed('Reader')],
  ['arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/eu-west-1/SSO_R_0a', assumed('SSO_R_0a')],
  ['arn:aws-us-gov:iam::111122223333:role/Reader', 'arn:aws-us-gov:sts::111122223333:assumed-role/Reader'],
  ['arn:aws:iam::111122223333:user/name', 'arn:aws:iam::111122223333:user/name'],
  [assumed('Reader'), assumed('Reader')],
])('a principal that is configured as %s is known as %s', (configured, caller) => {
  expect(callerFromPrincipalArn(configured)).toBe(caller);
});

test.each([null, 'text', 1, [], undefined])(
  '%j in place of an object is refused, and throws nothing',
  (value) => {
    const schema = closedObject({ name: v.string() }, 'must be an object');
    expect(v.safeParse(schema, value).success).toBe(false);
  },
);

test('a request that API Gateway has not authorized has no caller', () => {
  const userArn = assumed('Service/i-0abc');
  const caller = { kind: 'caller', caller: assumed('Service') };
  expect(identifyCaller({ authorizer: { iam: { userArn } } })).toEqual(caller);
  for (const context of [{}, { authorizer: {} }, { authorizer: { iam: {} } }]) {
    expect(identifyCaller(context)).toMatchObject({ kind: 'refused', answer: { statusCode: 401 } });
  }
});

describe('a name that occurs twice in one object', () => {
  const pointersIn = (body: string): readonly string[] => {
    const read = parseRequestBody({ body }, 64 * 1024);
    return read.kind === 'ambiguous' ? read.violations.map(({ pointer }) => pointer) : [];
  };

  test.each([
    ['{"a":1,"b":2,"a":1}', ['/a']],
    ['{"a":1,"\\u0061":2}', ['/a']],
    ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
    ['[0,{"x":[{"a/b":1},{"a/b":"{\\"}","c":[],"a/b":[1,2]}]}]', ['/1/x/1/a~1b']],
    ['{"a":{"b":1,"b":2},"a":3}', ['/a/b', '/a']],
    [' { "" : 1 , "" : 2 } ', ['/']],
  ])('is refused at its pointer: %s', (body, pointers) => {
    expect(pointersIn(body)).toEqual(pointers);
  });

  const long = 'k'.repeat(60_000);
  const deep = 1_000;
  const twice = '"":1,"":1,'.repeat(500);
  test.each([
    ['a long name', `{"${long}":{${twice}"a":1}}`, ''],
    ['a long name that needs escapes', `{"${'\\u0001'.repeat(10_000)}":{${twice}"a":1}}`, ''],
    [
      'many levels',
      `${'{"123456789":'.repeat(deep)}{${twice}"a":1}${'}'.repeat(deep)}`,
      '/123456789'.repeat(49),
    ],
  ])('inside of %s is refused in a short answer, at a value around it', (_what, body, around) => {
    const read = parseRequestBody({ body }, 64 * 1024);
    if (read.kind !== 'ambiguous') throw new Error(`The test's body is ${read.kind}.`);
    const answer = problem('invalid-request', { errors: read.violations }).body ?? '';
    expect(Buffer.byteLength(answer)).toBeLessThan(64 * 1024);
    const { errors } = JSON.parse(answer) as { errors: readonly { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual(Array(50).fill(around));
  });

  test.each([
    '{"a":{"a":["a","a"]},"b":{"a":"a"}}',
    '["a","a"]',
    '"a"',
    '{"a":"b","b":"\\"a\\":1,\\"a\\":2"}',
  ])('is not seen in other places: %s', (body) => {
    expect(parseRequestBody({ body }, 64 * 1024).kind).toBe('json');
  });
});
