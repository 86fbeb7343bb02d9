import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';
import type { Secret } from '../leaks/secret.ts';

const { secretsFile } = inject('cosecha');

/** Registers a value for the search for leaks after the suite, and returns it. */
export const secret = (kind: Secret['kind'], value: string): string => {
  appendFileSync(secretsFile, `${JSON.stringify({ kind, value })}\n`);
  return value;
};
