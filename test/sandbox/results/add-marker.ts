import { planOf } from '../plans.ts';
import type { Sandbox } from '../state.ts';

/** Results with the mark of the settings in them, where there is one and no plan says what they are. */
export const markResults = (sandbox: Sandbox, username: string, results: unknown): unknown => {
  const mark = sandbox.settings.marks.result;
  if (mark === undefined || 'results' in planOf(sandbox, username)) return results;
  if (Array.isArray(results)) return [...results, { mark }];
  return typeof results === 'object' && results !== null ? { ...results, mark } : results;
};
