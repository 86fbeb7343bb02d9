import { ApiError } from '../../../lib/client/api-errors.ts';
import type { SendDeps } from '../../../lib/client/send-with-retries.ts';
import type { Deployment } from '../aws/deployment.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError } from '../terminal/errors.ts';
import { explainFailure } from '../terminal/explain-failure.ts';

const again = 'Run it again: it starts nothing twice.';

/**
 * Sends requests that have keys, until Ctrl-C. Returns undefined after that. Throws CliError for what the API or AWS reports, with what to do,
 * and any other error as it is.
 */
export const repeatable = async <Result>(
  { api: { fetch } }: Pick<Deployment, 'api'>,
  shell: Shell,
  work: (deps: Pick<SendDeps, 'fetch' | 'sleep'> & { readonly signal: AbortSignal }) => Promise<Result>,
): Promise<Result | undefined> => {
  const signal = shell.interrupted();
  const sleep = async (milliseconds: number): Promise<void> => {
    await shell.sleep(milliseconds, signal);
    signal.throwIfAborted();
  };
  try {
    return await work({ fetch, sleep, signal });
  } catch (error) {
    if (signal.aborted) return void shell.hint(again);
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const explained = error instanceof ApiError ? error.lines : explainFailure(cause);
    if (explained === undefined) throw error;
    throw new CliError([explained, again].flat(), { cause: error });
  } finally {
    shell.wait(undefined);
  }
};
