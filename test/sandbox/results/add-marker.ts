import { planOf } from '../plans.ts';
import type { Sandbox } from '../state.ts';

/** Adds the marker of the settings to results, unless a plan sets the results. */
export const addMarker = (sandbox: Sandbox, username: string, results: unknown): unknown => {
  const marker = sandbox.settings.markers.result;
  if (marker === undefined || 'results' in planOf(sandbox, username)) return results;
  if (Array.isArray(results)) return [...results, { marker }];
  return typeof results === 'object' && results !== null ? { ...results, marker } : results;
};
