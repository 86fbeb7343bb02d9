import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new directory, which is removed with all that is in it once the test has ended. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'cosecha-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};
