import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../settings/config-error.ts';
import { type FunctionCode, functionNames } from './contracts.ts';

/**
 * The bundles that the published package has beside this module. Throws ConfigError where they are missing: in the repository, and in
 * the bundle of an app, where this module is no longer in the package. `here`: for a test.
 */
export const prebuiltFunctions = (here?: string): FunctionCode => {
  // Undefined in a CommonJS bundle, whatever the types say.
  const directory = join(here ?? import.meta.dirname ?? '/nowhere', 'functions');
  if (!existsSync(directory)) {
    throw new ConfigError(
      'The functions of Cosecha are not beside its construct. If your app is bundled, leave the package out of the bundle, as with esbuild --external:@cosecha/cosecha. Otherwise import Cosecha from the package that `npm run package` builds.',
    );
  }
  return Object.fromEntries(functionNames.map((name) => [name, join(directory, name)])) as FunctionCode;
};
