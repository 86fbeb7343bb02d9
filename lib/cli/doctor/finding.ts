import { CliError } from '../errors.ts';
import { explainFailure } from '../explain-failure.ts';

/** What one check found, in plain words. */
export type Finding =
  | { readonly result: 'passed'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly remedy: string }
  /** It cannot be told from here. */
  | { readonly result: 'skipped'; readonly message: string };

export const passed = (message: string): Finding => ({ result: 'passed', message });
export const failed = (message: string, remedy: string): Finding => ({ result: 'failed', message, remedy });
export const skipped = (message: string): Finding => ({ result: 'skipped', message });

/** Whatever stops a check is itself a finding: the others go on. */
export const foundBy = async (subject: string, check: () => Promise<Finding>): Promise<Finding> => {
  try {
    return await check();
  } catch (error) {
    const sentence = error instanceof CliError ? error.message : explainFailure(error);
    return failed(
      `${subject}: could not be checked`,
      sentence ?? `${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    );
  }
};
