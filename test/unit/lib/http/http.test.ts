import { describe, expect, test } from 'vitest';
import { callerFromPrincipalArn, callerFromUserArn, callerOf } from '../../../../lib/http/caller.ts';
import { parseRequestBody } from '../../../../lib/http/parse-request-body.ts';
import { type ProblemType, problem } from '../../../../lib/http/problem.ts';

describe('the caller of a request', () => {
  test('is a role without its session’s name: a sister container is the same caller', () => {
    const one = callerFromUserArn('arn:aws:sts::111122223333:assumed-role/Service/i-0abc');
    expect(one).toBe('arn:aws:sts::111122223333:assumed-role/Service');
    expect(callerFromUserArn('arn:aws:sts::111122223333:assumed-role/Service/another@session,=.-')).toBe(one);
  });

  test('is another one for another role, account or partition', () => {
    const callers = [
      'arn:aws:sts::111122223333:assumed-role/Service/s',
      'arn:aws:sts::111122223333:assumed-role/Service2/s',
      'arn:aws:sts::444455556666:assumed-role/Service/s',
      'arn:aws-cn:sts::111122223333:assumed-role/Service/s',
    ].map(callerFromUserArn);
    expect(new Set(callers).size).toBe(4);
  });

  test('is never one role for another whose session bears its name', () => {
    expect(callerFromUserArn('arn:aws:sts::111122223333:assumed-role/A/B')).not.toBe(
      callerFromUserArn('arn:aws:sts::111122223333:assumed-role/B/A'),
    );
  });

  test.each([
    'arn:aws:iam::111122223333:user/team/name',
    'arn:aws:iam::111122223333:root',
    'arn:aws:sts::111122223333:federated-user/name',
    '',
  ])('%s stays as it is', (arn) => {
    expect(callerFromUserArn(arn)).toBe(arn);
  });
});

describe('a principal that is configured by its IAM ARN', () => {
  test.each([
    ['arn:aws:iam::111122223333:role/Reader', 'arn:aws:sts::111122223333:assumed-role/Reader'],
    ['arn:aws:iam::111122223333:role/team/a/Reader', 'arn:aws:sts::111122223333:assumed-role/Reader'],
    [
      'arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_R_0a',
      'arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_R_0a',
    ],
    ['arn:aws-us-gov:iam::111122223333:role/Reader', 'arn:aws-us-gov:sts::111122223333:assumed-role/Reader'],
    ['arn:aws:iam::111122223333:user/name', 'arn:aws:iam::111122223333:user/name'],
    ['arn:aws:sts::111122223333:assumed-role/Reader', 'arn:aws:sts::111122223333:assumed-role/Reader'],
  ])('%s is known as %s', (configured, caller) => {
    expect(callerFromPrincipalArn(configured)).toBe(caller);
  });

  test('is the caller that its sessions are', () => {
    expect(callerFromPrincipalArn('arn:aws:iam::111122223333:role/path/Reader')).toBe(
      callerFromUserArn('arn:aws:sts::111122223333:assumed-role/Reader/session'),
    );
  });
});

test('a request that API Gateway has not authorized has no caller', () => {
  const userArn = 'arn:aws:sts::111122223333:assumed-role/Service/i-0abc';
  expect(callerOf({ authorizer: { iam: { userArn } } })).toBe(callerFromUserArn(userArn));
  for (const context of [{}, { authorizer: {} }, { authorizer: { iam: {} } }]) {
    expect(callerOf(context)).toBeUndefined();
  }
});

const bodyOf = (type: ProblemType, more?: Parameters<typeof problem>[1]): unknown =>
  JSON.parse(problem(type, more).body ?? '');

test('violations and a detail are part of it', () => {
  const errors = [{ pointer: '/entity', detail: 'is required' }];
  expect(bodyOf('invalid-request', { errors, detail: 'Two things.' })).toMatchObject({
    errors,
    detail: 'Two things.',
  });
});

test('only what may pass soon asks to be tried again', () => {
  expect(problem('unavailable').headers).toHaveProperty('retry-after');
  expect(problem('invalid-request').headers).not.toHaveProperty('retry-after');
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

  test.each([
    '{"a":{"a":["a","a"]},"b":{"a":"a"}}',
    '["a","a"]',
    '"a"',
    '{"a":"b","b":"\\"a\\":1,\\"a\\":2"}',
  ])('is not seen in other places: %s', (body) => {
    expect(parseRequestBody({ body }, 64 * 1024).kind).toBe('json');
  });
});
