import { ProviderUnauthorized } from '../transport/errors.ts';
import type { Tokens } from './tokens.ts';

/** Makes a call with the current token. A 401 drops the token, and the call is made once more with a new one. */
export const withSession = async <T, Token = string>(
  tokens: Tokens<Token>,
  call: (token: Token) => Promise<T>,
): Promise<T> => {
  const token = await tokens.current();
  try {
    return await call(token);
  } catch (error) {
    if (!(error instanceof ProviderUnauthorized)) throw error;
    tokens.drop(token);
    return call(await tokens.current());
  }
};
