/**
 * Repeats a request while it is answered 5xx, as callers (docs/api.md) and the provider ("Events" 7 and 8)
 * do. A busy machine causes such answers.
 */
export const retryOn5xx = async <Answer extends { readonly status?: number }>(
  send: () => Promise<Answer>,
): Promise<Answer> => {
  let answer = await send();
  for (let repeats = 0; (answer.status ?? 500) >= 500 && repeats < 20; repeats += 1) answer = await send();
  return answer;
};
