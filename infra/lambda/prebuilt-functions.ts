import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionCode } from './function-names.ts';
import { functionNames } from './function-names.ts';

/** The bundles that the published package has beside this module. Throws where they are missing, as in the repository. */
export const prebuiltFunctions = (): FunctionCode => {
  const directory = join(import.meta.dirname, 'functions');
  if (!existsSync(directory)) {
    throw new Error(
      `${directory} does not exist. Import Cosecha from the package that \`npm run package\` builds.`,
    );
  }
  return Object.fromEntries(functionNames.map((name) => [name, join(directory, name)])) as FunctionCode;
};
