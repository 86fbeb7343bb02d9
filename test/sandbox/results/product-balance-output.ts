import { accountFrom, amountFrom } from './synthetic.ts';

/** The document says that it is an object, and does not show its fields. These are invented. */
export type ProductBalance = {
  readonly currency: string;
  readonly accounts: readonly {
    readonly accountNumber: string;
    readonly accountType: string;
    readonly balance: number;
    readonly available: number;
  }[];
};

export const productBalanceOutput = (username: string): ProductBalance => {
  return {
    currency: 'CLP',
    accounts: ['checking', 'savings'].map((accountType) => {
      const available = amountFrom(username, accountType, 'available');
      return {
        accountNumber: accountFrom(username, accountType),
        accountType,
        // Part of the balance is retained.
        balance: available + amountFrom(username, accountType, 'retained'),
        available,
      };
    }),
  };
};
