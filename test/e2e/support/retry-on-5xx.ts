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
