import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExpectedFailure } from '../../../tools/local/expected-failure.ts';
import { type Ledger, openLedger } from './ledger.ts';

/**
 * A ledger in the directory of a run, and the environment for its emulator that makes every function write there.
 *
 * @throws ExpectedFailure if `AWS_ENDPOINT_URL` names a running emulator
 */
export const createLedger = async (
  runDirectory: string,
): Promise<{ readonly ledger: Ledger; readonly emulatorEnv: Record<string, string> }> => {
  if (process.env.AWS_ENDPOINT_URL) {
    throw new ExpectedFailure(
      'AWS_ENDPOINT_URL is set. Unset it: the functions record their calls only on a new emulator.',
    );
  }
  const directory = join(runDirectory, 'ledger');
  await mkdir(directory);
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    ledger: openLedger(directory),
    emulatorEnv: { COSECHA_LEDGER: directory, NODE_OPTIONS: `--import=${preload}` },
  };
};
