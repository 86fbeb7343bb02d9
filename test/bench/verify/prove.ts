import type { Contender } from './contenders.ts';

/** A contender accepts a forged body or refuses a valid one, so its speed means nothing. */
export class NotACheck extends Error {
  override readonly name = 'NotACheck';
}

/** Throws NotACheck if a contender refuses a valid body or accepts a forged one. */
export const prove = async ({ name, right, wrong }: Contender): Promise<void> => {
  if (!(await right())) throw new NotACheck(`${name} refuses a valid signature.`);
  for (const check of wrong) if (await check()) throw new NotACheck(`${name} accepts a forged signature.`);
};
