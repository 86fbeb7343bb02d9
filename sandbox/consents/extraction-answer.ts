import { hasProduct, type Product } from '../entities.ts';
import { ERROR, type LegacyAnswer, LOCKED, WRONG_LOGIN } from '../legacy/presets.ts';
import type { Plan } from '../plan-schemas.ts';
import { productData } from '../results/build-results.ts';
import type { TerminalStatus } from '../task-vocabulary.ts';

type ExtractionAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
};

/** How a poll of v1 ends with HTTP 200 and the code of an error, by the planned outcome of a task. */
const v1Errors: Partial<Record<TerminalStatus, LegacyAnswer>> = {
  CREDENTIALS_WRONG: WRONG_LOGIN,
  CREDENTIALS_LOCKED: LOCKED,
  FAILED: ERROR,
};

/** The extracted product, its owner and entity. `at`: when the extraction ended. */
type ExtractionSource = {
  readonly product: Product;
  readonly owner: string;
  readonly entityId: string;
  readonly at: number;
  /** Of the poll. The synchronous call has none. */
  readonly version?: 'v1' | 'v2';
};

/**
 * The final answer of a consent-based extraction: by its plan (in v1 also by the planned outcome), else by the entity's
 * products ("data availability varies by entity and product"). `finished` builds the body from the data.
 */
export const extractionAnswer = (
  plan: Plan,
  { product, owner, entityId, at, version }: ExtractionSource,
  finished: (data: unknown) => Record<string, unknown>,
): ExtractionAnswer => {
  if (plan.failure !== undefined) {
    const { status, ...error } = plan.failure;
    return { status, body: { ...error, message: 'The data could not be retrieved' } };
  }
  const error = version === 'v1' && plan.outcome !== undefined ? v1Errors[plan.outcome] : undefined;
  if (error !== undefined) return { status: 200, body: error };
  if ('results' in plan) return { status: 200, body: finished(plan.results) };
  if (!hasProduct(entityId, product)) {
    const message = 'The entity does not have this product';
    return { status: 422, body: { errorType: 'PRODUCT', errorCode: 'PRODUCT_NOT_AVAILABLE', message } };
  }
  return { status: 200, body: finished(productData(product, owner, at)) };
};
