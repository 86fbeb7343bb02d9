import type { Plan } from '../plan.ts';
import type { Product } from '../product-vocabulary.ts';
import { productData } from '../results/product-data.ts';

export interface ExtractionAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a consent-based extraction ends with, as its plan says; `finished` words the data. */
export function extractionAnswer(
  plan: Plan,
  { product, owner, at }: { readonly product: Product; readonly owner: string; readonly at: number },
  finished: (data: unknown) => Record<string, unknown>,
): ExtractionAnswer {
  if (plan.failure !== undefined) {
    const { status, ...error } = plan.failure;
    return { status, body: { ...error, message: 'The data could not be retrieved' } };
  }
  return {
    status: 200,
    body: finished('results' in plan ? plan.results : productData(product, owner, at)),
  };
}
