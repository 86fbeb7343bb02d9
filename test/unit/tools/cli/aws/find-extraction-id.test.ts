import { expect, test } from 'vitest';
import { findExtractionId, mayBeExtractionId } from '#tools/cli/aws/find-extraction-id.ts';
import { CliError, UsageError } from '#tools/cli/terminal/errors.ts';
import { shortId } from '#tools/cli/terminal/short-id.ts';

const one = '1f60ead9-ee02-8cff-a129-14ed7432b4ed';
const like = '1f60ead9-ee03-8cff-a129-14ed7432b4aa';
const other = '2f60ead9-ee02-8cff-a129-14ed7432b4ed';
const find = (given: string) => findExtractionId(given, async () => [one, like, other, one]);

test('an id is found by its beginning, and as the console shortens it', async () => {
  expect(await find('2f60ead9')).toBe(other);
  expect(await find('1F60EAD9-ee02')).toBe(one);
  expect(await find(shortId(like))).toBe(like);
  expect(await find('1f60ead9...32b4ed')).toBe(one);
});

test('a whole id is taken unread, also one that is not among the newest', async () => {
  const never = async (): Promise<never> => Promise.reject(new Error('It was read.'));
  expect(await findExtractionId(one, never)).toBe(one);
});

test('one that several have, or none, is refused with what to do', async () => {
  await expect(find('1f60ead9')).rejects.toThrow(UsageError);
  await expect(find('1f60ead9')).rejects.toThrow(like);
  await expect(find('3f60ead9')).rejects.toThrow(CliError);
});

test.each(['', '1f60ead', 'order-7', '1f60ead9…', `${one}0`])('%j names none', (text) => {
  expect(mayBeExtractionId(text)).toBe(false);
});
