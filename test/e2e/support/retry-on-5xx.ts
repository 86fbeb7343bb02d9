import type { SignedFetch } from '#lib/client/signed-fetch.ts';
import { answerMs } from '../time-limits.ts';

/** Ends a request that is not answered. Without a limit it would end as a test that took too long, without a name. */
export const fetchInTime =
  (fetch: SignedFetch): SignedFetch =>
  (url, init) =>
    fetch(url, { ...init, signal: AbortSignal.timeout(answerMs) });

/**
 * Repeats a request while it is answered 5xx or not in time, as callers (docs/api.md) and the provider ("Events" 7 and 8)
 * do. A busy machine causes such answers.
 */
export const retryOn5xx = async <Answer extends { readonly status?: number }>(
  send: () => Promise<Answer>,
): Promise<Answer> => {
  for (let repeats = 0; ; repeats += 1) {
    try {
      const answer = await send();
      if ((answer.status ?? 500) < 500 || repeats === 20) return answer;
    } catch (error) {
      if ((error as Error).name !== 'TimeoutError' || repeats === 20) throw error;
    }
  }
};
