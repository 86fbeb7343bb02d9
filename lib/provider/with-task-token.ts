import { ProviderUnauthorized } from './errors.ts';
import type { TaskTokens } from './task-tokens.ts';

/** Makes a call with the user's current Task Token; a 401 drops it, makes a new one and makes the call once more. */
export const withTaskToken = async <T>(
  tokens: TaskTokens,
  target: string,
  call: (taskToken: string) => Promise<T>,
): Promise<T> => {
  const taskToken = await tokens.current(target);
  try {
    return await call(taskToken);
  } catch (error) {
    if (!(error instanceof ProviderUnauthorized)) throw error;
    tokens.drop(target, taskToken);
    return call(await tokens.current(target));
  }
};
