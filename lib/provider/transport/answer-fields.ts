import * as v from 'valibot';
import { isTaskId } from '../tasks/task-id.ts';

/** Fields that several answers have. */

/**
 * Where a token or an id is all that a call is made for, an empty one is none, and one with half a character, which
 * JSON can write as an escape, fits into no header and no address.
 */
export const answerText = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((text) => text.isWellFormed()),
);

export const answerTaskId = v.custom<string>(isTaskId);

/** Product data, whose structure depends on the product and is shown for two of them (`product-items.ts`). */
export const productData: v.GenericSchema<unknown, readonly unknown[]> = v.array(v.unknown());

/** An object or an array, as it is. */
export const anyObject = v.custom<object>((value) => typeof value === 'object' && value !== null);
