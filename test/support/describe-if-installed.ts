import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'vitest';

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of the first of these programs that is on the PATH. */
export const findProgram = (...names: readonly string[]): string | undefined =>
  names
    .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find(isExecutable);

/**
 * Tests that need a program which not every machine has. Without it they are skipped, and a line says how to install it. In CI
 * they fail.
 */
export const describeIfInstalled = (
  isInstalled: boolean,
  { title, howToInstall }: { readonly title: string; readonly howToInstall: string },
  tests: () => void,
): void => {
  if (!isInstalled && process.env.CI === 'true') {
    test(title, () => {
      throw new Error(howToInstall);
    });
  }
  if (!isInstalled) console.warn(`Skipped. ${howToInstall}.`);
  describe.skipIf(!isInstalled)(isInstalled ? title : howToInstall, tests);
};
