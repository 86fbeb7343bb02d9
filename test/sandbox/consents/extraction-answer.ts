import { hasProduct } from '../entities.ts';
import type { Plan } from '../plan.ts';
import type { Product } from '../product-vocabulary.ts';
import { productData } from '../results/build-results.ts';

export type ExtractionAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
};

/** The extracted product, its owner and entity. `at`: when the extraction ended. */
export type ExtractionSource = {
  readonly product: Product;
  readonly owner: string;
  readonly entityId: string;
  readonly at: number;
};

/**
 * The final answer of a consent-based extraction: by its plan, else by the entity's products ("data availability varies by
 * entity and product"). `finished` builds the body from the data.
 */
export const extractionAnswer = (
  plan: Plan,
  { product, owner, entityId, at }: ExtractionSource,
  finished: (data: unknown) => Record<string, unknown>,
): ExtractionAnswer => {
  if (plan.failure !== undefined) {
    const { status, ...error } = plan.failure;
    return { status, body: { ...error, message: 'The data could not be retrieved' } };
  }
  if ('results' in plan) return { status: 200, body: finished(plan.results) };
  if (!hasProduct(entityId, product)) {
    const message = 'The entity does not have this product';
    return { status: 422, body: { errorType: 'PRODUCT', errorCode: 'PRODUCT_NOT_AVAILABLE', message } };
  }
  return { status: 200, body: finished(productData(product, owner, at)) };
};
