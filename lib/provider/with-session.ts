import { ProviderUnauthorized } from './errors.ts';
import type { SessionTokens } from './session-tokens.ts';

/** Makes a call with the current session token; a 401 drops it, logs in once and makes the call once more. */
export const withSession = async <T>(
  tokens: SessionTokens,
  call: (sessionToken: string) => Promise<T>,
): Promise<T> => {
  const sessionToken = await tokens.current();
  try {
    return await call(sessionToken);
  } catch (error) {
    if (!(error instanceof ProviderUnauthorized)) throw error;
    tokens.drop(sessionToken);
    return call(await tokens.current());
  }
};
