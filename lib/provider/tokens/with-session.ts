import { ProviderUnauthorized } from '../transport/errors.ts';

/** Makes a call that authenticates with the API key. The call may be made again with another key after a 401. */
export type WithApiKey = <T>(call: (apiKey: string) => Promise<T>) => Promise<T>;

/** Returns the current token for calls, and drops one that the provider refused. */
export type Tokens<Token = string> = {
  current(): Promise<Token>;
  drop(token: Token): void;
};

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
