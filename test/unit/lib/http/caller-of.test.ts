import { describe, expect, test } from 'vitest';
import { callerNamed, callerOf } from '../../../../lib/http/caller-of.ts';

describe('the caller of a request', () => {
  test('is a role without its session’s name: a sister container is the same caller', () => {
    const one = callerOf('arn:aws:sts::111122223333:assumed-role/Service/i-0abc');
    expect(one).toBe('arn:aws:sts::111122223333:assumed-role/Service');
    expect(callerOf('arn:aws:sts::111122223333:assumed-role/Service/another@session,=.-')).toBe(one);
  });

  test('is another one for another role, account or partition', () => {
    const callers = [
      'arn:aws:sts::111122223333:assumed-role/Service/s',
      'arn:aws:sts::111122223333:assumed-role/Service2/s',
      'arn:aws:sts::444455556666:assumed-role/Service/s',
      'arn:aws-cn:sts::111122223333:assumed-role/Service/s',
    ].map(callerOf);
    expect(new Set(callers).size).toBe(4);
  });

  test('is never one role for another whose session bears its name', () => {
    expect(callerOf('arn:aws:sts::111122223333:assumed-role/A/B')).not.toBe(
      callerOf('arn:aws:sts::111122223333:assumed-role/B/A'),
    );
  });

  test.each([
    'arn:aws:iam::111122223333:user/team/name',
    'arn:aws:iam::111122223333:root',
    'arn:aws:sts::111122223333:federated-user/name',
    '',
  ])('%s stays as it is', (arn) => {
    expect(callerOf(arn)).toBe(arn);
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
    expect(callerNamed(configured)).toBe(caller);
  });

  test('is the caller that its sessions are', () => {
    expect(callerNamed('arn:aws:iam::111122223333:role/path/Reader')).toBe(
      callerOf('arn:aws:sts::111122223333:assumed-role/Reader/session'),
    );
  });
});
