import type * as v from 'valibot';

/** One thing that is wrong with a request body, and where. `detail` never repeats a value of the request. */
export type Violation = {
  /** JSON pointer (RFC 6901) into the request body; empty for the body as a whole. */
  readonly pointer: string;
  readonly detail: string;
};

/** The JSON pointer to what these names, one inside the other, lead to. */
export const pointerTo = (names: readonly unknown[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const pointerOf = (issue: v.BaseIssue<unknown>): string =>
  pointerTo((issue.path ?? []).map(({ key }) => key));

/** valibot's own sentences quote what they received; only ours, which do not, are passed on. */
const detailOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.type === 'object_with_rest' && issue.received === 'undefined') return 'is required';
  if (issue.type === 'variant' && issue.path?.at(-1)?.key === 'mode') {
    return 'must be raw, encrypted or persisted';
  }
  if (/^Invalid /.test(issue.message)) return 'is not valid here';
  return issue.message;
};

/** What valibot found, in words that a caller may be told. */
export const violationOf = (issue: v.BaseIssue<unknown>): Violation => ({
  pointer: pointerOf(issue),
  detail: detailOf(issue),
});
