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

/** How the name of skipped tests begins. What follows is how to run them, which report-skipped.ts prints. */
export const skipped = 'Skipped. ';

/** Tests that need a program which not every machine has. Without it they are skipped. In CI they fail. */
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
  describe.skipIf(!isInstalled)(isInstalled ? title : `${skipped}${howToInstall}`, tests);
};
