import { setTimeout } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { backgroundHandler } from '#lib/observability/background-handler.ts';
import { capturedLog } from '../../../support/data/captured-log.ts';
import { errorText } from '../../../support/data/text-of-error.ts';

const log = capturedLog();

class NotYet extends Error {
  override readonly name = 'NotYet';
}

const thrownBy = async (error: unknown): Promise<unknown> => {
  const fail = async () => {
    throw error;
  };
  const handler = backgroundHandler<object, void>(fail, { except: [NotYet] });
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

test('only the timeout of Lambda ends a function early', async () => {
  const handler = backgroundHandler(() => setTimeout(50, 'finished'));
  expect(await handler({}, { getRemainingTimeInMillis: () => 6 } as Context)).toBe('finished');
});

test('an error of ours passes as it is, and is no failure', async () => {
  const known = new NotYet('still-running');
  expect(await thrownBy(known)).toBe(known);
  expect(log.lines()).toBe('');
});
