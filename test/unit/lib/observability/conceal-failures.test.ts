import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { concealFailures } from '#lib/observability/conceal-failures.ts';
import { capturedLog } from '../../../support/data/captured-log.ts';
import { errorText } from '../../../support/data/text-of-error.ts';

const log = capturedLog();

class NotYet extends Error {
  override readonly name = 'NotYet';
}

const thrownBy = async (error: unknown): Promise<unknown> => {
  const handler = middy<object, void>()
    .use(concealFailures({ except: [NotYet] }))
    .handler(async () => {
      throw error;
    });
  return handler({}, {} as Context).catch((thrown: unknown) => thrown);
};

// middy hangs the original on what an onError throws, and Lambda's runtime logs an error's own properties:
// https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/blob/main/src/Errors.js
test('what a function throws says only where to look, and carries nothing of the original', async () => {
  const thrown = await thrownBy(new RangeError('SENTINEL'));
  expect(thrown).toMatchObject({ name: 'InvocationFailed', message: "See the function's log." });
  expect(thrown).not.toHaveProperty('originalError');
  expect(errorText(thrown)).not.toContain('SENTINEL');
  expect(log.lines()).toContain('RangeError');
  expect(log.lines()).not.toContain('SENTINEL');
});

test('an error of ours passes as it is, and is no failure', async () => {
  const known = new NotYet('still-running');
  expect(await thrownBy(known)).toBe(known);
  expect(log.lines()).toBe('');
});
