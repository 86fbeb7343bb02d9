import { explainFailure } from '../terminal/explain-failure.ts';

/** What one check found: a sentence and, where it failed, what to do. `skipped`: it could not be checked from here. */
export type Finding =
  | { readonly result: 'passed'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly remedy: string }
  | { readonly result: 'skipped'; readonly message: string };

export const passed = (message: string): Finding => ({ result: 'passed', message });
export const failed = (message: string, remedy: string): Finding => ({ result: 'failed', message, remedy });
export const skipped = (message: string): Finding => ({ result: 'skipped', message });

/** One check. Its id is the same in every version, for scripts that read `doctor --json`. */
export type Check = { readonly id: string; readonly run: () => Finding | Promise<Finding> };

/** Runs a check. An error is a failed finding, so that the other checks still run. */
export const runCheck = async ({ id, run }: Check): Promise<Finding> => {
  try {
    return await run();
  } catch (error) {
    return failed(`${id}: could not be checked`, explainFailure(error) ?? String(error));
  }
};
