import type * as v from 'valibot';

/** One rule that a request body breaks, and where. `detail` never repeats a value of the request. */
export type Violation = {
  /** JSON pointer (RFC 6901) into the request body; empty for the body as a whole. */
  readonly pointer: string;
  readonly detail: string;
};

/** The JSON pointer for a path of names, from the outermost one. */
export const pointerTo = (names: readonly unknown[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** As JSON in UTF-8. A body of 64 KB can have a name of 64 KB, or thousands of levels. An answer repeats pointers only up to here. */
const maxPointerBytes = 500;

const fits = (pointer: string): boolean => Buffer.byteLength(JSON.stringify(pointer)) <= maxPointerBytes;

/**
 * A violation at a path of names, from the outermost one. If its pointer would be too long, it has the pointer of the innermost value around it
 * that is not.
 */
export const violationAt = (names: readonly unknown[], detail: string): Violation => {
  let pointer = '';
  for (const name of names) {
    const next = `${pointer}${pointerTo([name])}`;
    if (!fits(next)) {
      return {
        pointer,
        detail: `${detail} (inside of this value, at a pointer of over ${maxPointerBytes} bytes)`,
      };
    }
    pointer = next;
  }
  return { pointer, detail };
};

/** Replaces messages of valibot, which quote the value. Messages of our schemas do not. */
const detailOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.type === 'object_with_rest' && issue.received === 'undefined') return 'is required';
  if (issue.type === 'variant' && issue.path?.at(-1)?.key === 'mode') {
    return 'must be raw, encrypted or persisted';
  }
  if (/^Invalid /.test(issue.message)) return 'is not valid here';
  return issue.message;
};

/** @internal Converts an issue of valibot into a violation for the caller. */
export const violationOf = (issue: v.BaseIssue<unknown>): Violation =>
  violationAt(
    (issue.path ?? []).map(({ key }) => key),
    detailOf(issue),
  );
