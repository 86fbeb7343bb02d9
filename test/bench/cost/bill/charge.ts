import { type PriceName, prices } from '../prices.ts';

/** What one extraction is billed for something, on average. */
export type Charge = {
  /** The function, or the part of the system, that it is billed for. */
  readonly where: string;
  readonly what: string;
  readonly price: PriceName;
  /** In units of the price. */
  readonly quantity: number;
};

/** In US dollars for a million extractions. */
export const dollarsOf = ({ price, quantity }: Charge): number => quantity * prices[price].perMillion;

export const totalOf = (charges: readonly Charge[]): number =>
  charges.reduce((sum, charge) => sum + dollarsOf(charge), 0);

/** The same many times, or a part of it. */
export const times = (charges: readonly Charge[], factor: number): readonly Charge[] =>
  charges.map((charge) => ({ ...charge, quantity: charge.quantity * factor }));

/** Charges of the same thing in the same place, added up, in the order in which they first come. */
export const merge = (charges: readonly Charge[]): readonly Charge[] => {
  const merged = new Map<string, Charge>();
  for (const charge of charges) {
    const key = `${charge.where}\n${charge.what}\n${charge.price}`;
    const quantity = charge.quantity + (merged.get(key)?.quantity ?? 0);
    merged.set(key, { ...charge, quantity });
  }
  return [...merged.values()];
};
