import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeError } from '#lib/observability/describe-error.ts';

const described = (error: unknown): string => JSON.stringify(describeError(error));

test('an error is described by its name, code and frames', () => {
  const error = Object.assign(new TypeError('SENTINEL'), { code: 'ECONNRESET', secret: 'SENTINEL' });
  expect(describeError(error)).toEqual({
    name: 'TypeError',
    code: 'ECONNRESET',
    frames: expect.arrayContaining([expect.stringContaining('describe-error.test.ts')]),
  });
  expect(described(error)).not.toContain('SENTINEL');
});

test('an AWS error is described by its status and request id, too', () => {
  const error = Object.assign(new Error('SENTINEL'), {
    name: 'ValidationException',
    $metadata: { httpStatusCode: 400, requestId: 'request-1', extendedRequestId: 'SENTINEL' },
    $response: { body: 'SENTINEL' },
  });
  expect(describeError(error)).toMatchObject({
    name: 'ValidationException',
    httpStatus: 400,
    awsRequestId: 'request-1',
  });
  expect(described(error)).not.toContain('SENTINEL');
});

test('its causes are described the same way, four levels deep', () => {
  let error = new Error('SENTINEL 0');
  for (let level = 1; level < 10; level += 1) error = new Error(`SENTINEL ${level}`, { cause: error });
  expect(described(error).match(/"name":"Error"/g)).toHaveLength(4);
  expect(described(error)).not.toContain('SENTINEL');
});

test.each(['SENTINEL', 7, null, undefined, { message: 'SENTINEL' }])(
  '%j, thrown, is described by its type',
  (thrown) => {
    expect(describeError(thrown)).toEqual({ name: typeof thrown, frames: [] });
  },
);

test('no line of a message is ever logged, in whatever line it stands', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('SENTINEL', 'at the', '\n', 'Error:', '{"a":'), { maxLength: 8 }),
      (parts) => {
        const message = parts.join(' ');
        expect(described(new Error(message))).not.toContain('SENTINEL');
      },
    ),
  );
});

// The stack begins with the message, and a line of it that looks like a frame is taken for one.
test('a line of a message that looks like a frame is not logged either', () => {
  expect(described(new Error('Unexpected token in\n    at SENTINEL'))).not.toContain('SENTINEL');
});
