import type { Contender } from './contenders.ts';

/** What cannot tell right from wrong has no speed worth telling. */
export class NotACheck extends Error {
  override readonly name = 'NotACheck';
}

/** Throws NotACheck where a contender refuses what is right or takes what is wrong. */
export const prove = async ({ name, right, wrong }: Contender): Promise<void> => {
  if (!(await right())) throw new NotACheck(`${name} refuses a right signature.`);
  for (const check of wrong) if (await check()) throw new NotACheck(`${name} takes a wrong signature.`);
};
