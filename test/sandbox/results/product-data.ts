import type { Product } from '../product-vocabulary.ts';
import { movementOutput } from './movement-output.ts';
import { productBalanceOutput } from './product-balance-output.ts';
import { amountFrom } from './synthetic.ts';
import { tefOutput } from './tef-output.ts';

const NINETY_DAYS_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * The data of a product by consent: "array; structure depends on the product". Movements and transfers have the shape of
 * the document's sample. The document does not show the others, which get one invented item.
 */
export const productData = (product: Product | string, owner: string, at: number): readonly unknown[] => {
  switch (product) {
    case 'movement':
      return movementOutput(owner, lastNinetyDays(at), at);
    case 'tef':
      return tefOutput(owner, at);
    case 'product-balance':
      return [productBalanceOutput(owner)];
    default:
      return [{ product, amount: amountFrom(owner, product), currency: 'CLP' }];
  }
};

const lastNinetyDays = (at: number) => {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { startDate: day(at - NINETY_DAYS_MS), endDate: day(at) };
};
