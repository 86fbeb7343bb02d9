import { type PriceName, prices } from '../../../../tools/acceptance/checks/prices.ts';

/** The mean charge of an extraction for one item of the bill. */
export type Charge = {
  /** The function, or the part of the system, that it is billed for. */
  readonly where: string;
  readonly what: string;
  readonly price: PriceName;
  /** In units of the price. */
  readonly quantity: number;
};

/** The cost of a million extractions in US dollars. */
export const dollarsOf = ({ price, quantity }: Charge): number => quantity * prices[price].perMillion;

export const totalOf = (charges: readonly Charge[]): number =>
  charges.reduce((sum, charge) => sum + dollarsOf(charge), 0);

/** The charges multiplied by a factor. */
export const times = (charges: readonly Charge[], factor: number): readonly Charge[] =>
  charges.map((charge) => ({ ...charge, quantity: charge.quantity * factor }));

/** Adds up charges of the same item and place, in the order of their first occurrence. */
export const merge = (charges: readonly Charge[]): readonly Charge[] => {
  const merged = new Map<string, Charge>();
  for (const charge of charges) {
    const key = `${charge.where}\n${charge.what}\n${charge.price}`;
    const quantity = charge.quantity + (merged.get(key)?.quantity ?? 0);
    merged.set(key, { ...charge, quantity });
  }
  return [...merged.values()];
};
