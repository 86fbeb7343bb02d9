import { accountFrom, amountFrom } from './synthetic.ts';

/** An object, as the document says; its fields are "not shown", so these are ours. */
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
        // Some of it is retained.
        balance: available + amountFrom(username, accountType, 'retained'),
        available,
      };
    }),
  };
};
