import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';
import { newNationalId } from '../../../sandbox/consents/national-id.ts';
import type { Secret } from '../leaks/secret.ts';

const { secretsFile } = inject('cosecha');

/** Registers a value for the search for leaks after the suite, and returns it. */
export const secret = (kind: Secret['kind'], value: string): string => {
  appendFileSync(secretsFile, `${JSON.stringify({ kind, value })}\n`);
  return value;
};

/** A national id that no other test has, as `12345678-5`. The provider's plans for consents are by national id. */
export const uniqueNationalId = (): string => secret('national id', newNationalId());
