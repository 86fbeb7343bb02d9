import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const functions = new URL('../../../../functions/', import.meta.url);

/** They only read, or do what a repeated request does again. Their callers wait for an answer, also at the timeout. */
const answeringAtTimeout = ['get-extraction.ts', 'manage-consents.ts', 'request-extraction.ts'];

test('Lambda itself ends every function that writes an outcome, at its timeout', () => {
  const others = readdirSync(functions).filter((file) => !answeringAtTimeout.includes(file));
  const handlers = others
    .map((file) => ({ file, text: readFileSync(new URL(file, functions), 'utf8') }))
    .filter(({ text }) => text.includes('middy<'));
  expect(handlers.length).toBeGreaterThan(0);
  expect(
    handlers.filter(({ text }) => !/middy<[^(]*>\(endAtTimeout\)/.test(text)).map(({ file }) => file),
  ).toEqual([]);
});
