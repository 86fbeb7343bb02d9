/** Returns the current token for calls, and drops one that the provider refused. */
export type Tokens<Token = string> = {
  current(): Promise<Token>;
  drop(token: Token): void;
};
