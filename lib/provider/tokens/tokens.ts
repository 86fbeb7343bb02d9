/** Hands out the token that calls are made with, and forgets one that the provider no longer takes. */
export type Tokens<Token = string> = {
  current(): Promise<Token>;
  drop(token: Token): void;
};
