/** Tokens that a form carries. Each confirms one action on one subject, once, within ten minutes. */
export type FormTokens = {
  readonly issue: (subject: string) => string;
  /** Whether the token was issued for this subject and is still valid. It is used up. */
  readonly redeem: (token: string, subject: string) => boolean;
};

const validMs = 10 * 60_000;

/** More forms than anybody has open. The oldest tokens go first. */
const mostTokens = 1_000;

/** @param random a text that cannot be guessed, new at each call */
export const createFormTokens = (random: () => string, now: () => Date): FormTokens => {
  const issued = new Map<string, { readonly subject: string; readonly until: number }>();
  return {
    issue: (subject) => {
      const token = random();
      issued.set(token, { subject, until: now().getTime() + validMs });
      const [oldest] = issued.keys();
      if (issued.size > mostTokens && oldest !== undefined) issued.delete(oldest);
      return token;
    },
    redeem: (token, subject) => {
      const found = issued.get(token);
      issued.delete(token);
      return found?.subject === subject && found.until > now().getTime();
    },
  };
};
