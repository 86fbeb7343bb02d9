import type { CommandText } from '../terminal/command-text.ts';
import { explainFailure } from '../terminal/explain-failure.ts';

/** What one check found: a sentence and, where it failed, what to do. `skipped`: it could not be checked from here. */
export type Finding =
  | { readonly result: 'passed'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly remedy: string }
  | { readonly result: 'skipped'; readonly message: string };

/** What a check returns, before its remedy is written. */
export type Found =
  | Exclude<Finding, { result: 'failed' }>
  | { readonly result: 'failed'; readonly message: string; readonly remedy: Remedy };

export const withRemedy = (found: Found, command: CommandText): Finding =>
  found.result === 'failed'
    ? { ...found, remedy: typeof found.remedy === 'string' ? found.remedy : found.remedy(command) }
    : found;

export const passed = (message: string): Exclude<Finding, { result: 'failed' }> => ({
  result: 'passed',
  message,
});
/** A remedy that names a command gets how commands of the deployment are written. */
type Remedy = string | ((command: CommandText) => string);
export const failed = (message: string, remedy: Remedy): Found => ({ result: 'failed', message, remedy });
export const skipped = (message: string): Exclude<Finding, { result: 'failed' }> => ({
  result: 'skipped',
  message,
});

/** One check. Its id is the same in every version, for scripts that read `doctor --json`. */
export type Check = { readonly id: string; readonly run: () => Found | Promise<Found> };

/** Runs a check. An error is a failed finding, so that the other checks still run. */
export const runCheck = async ({ id, run }: Check, command: CommandText): Promise<Finding> => {
  try {
    return withRemedy(await run(), command);
  } catch (error) {
    const remedy = explainFailure(error) ?? String(error);
    return { result: 'failed', message: `${id}: could not be checked`, remedy };
  }
};
