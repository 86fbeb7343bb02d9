/** Makes a call that authenticates with the API key. The call may be made again with another key after a 401. */
export type WithApiKey = <T>(call: (apiKey: string) => Promise<T>) => Promise<T>;

/** Returns the current token for calls, and drops one that the provider refused. */
export type Tokens<Token = string> = {
  current(): Promise<Token>;
  drop(token: Token): void;
};
