import * as v from 'valibot';
import { isTaskId } from '../tasks/task-id.ts';

/** Schemas for fields of several answers. */

/**
 * A token or an id. It must not be empty. JSON can escape a lone surrogate, which fits into no header and no URL, so it
 * is refused.
 */
export const answerText = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((text) => text.isWellFormed()),
);

export const answerTaskId = v.custom<string>(isTaskId);

/** Product data. Its items depend on the product, and two of them are shown (`product-item-guards.ts`). */
export const productData: v.GenericSchema<unknown, readonly unknown[]> = v.array(v.unknown());
