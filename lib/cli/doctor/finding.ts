import { explainFailure } from '../explain-failure.ts';
import { Problem } from '../problem.ts';

/** What one check found, in plain words. */
export type Finding =
  | { readonly mark: 'right'; readonly says: string }
  | { readonly mark: 'wrong'; readonly says: string; readonly remedy: string }
  /** It cannot be told from here. */
  | { readonly mark: 'skipped'; readonly says: string };

export const right = (says: string): Finding => ({ mark: 'right', says });
export const wrong = (says: string, remedy: string): Finding => ({ mark: 'wrong', says, remedy });
export const skipped = (says: string): Finding => ({ mark: 'skipped', says });

/** Whatever stops a check is itself a finding: the others go on. */
export const foundBy = async (subject: string, check: () => Promise<Finding>): Promise<Finding> => {
  try {
    return await check();
  } catch (error) {
    const sentence = error instanceof Problem ? error.message : explainFailure(error);
    return wrong(
      `${subject}: could not be looked at`,
      sentence ?? `${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    );
  }
};
