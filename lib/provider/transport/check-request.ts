import * as v from 'valibot';
import { InvalidProviderRequest } from './errors.ts';

/** valibot's own sentences quote what they received; only ours, which do not, are passed on. */
const ruleOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.received === 'undefined') return 'is required';
  return issue.message.startsWith('Invalid ') ? 'is not valid' : issue.message;
};

/**
 * Holds a request to the document before it leaves. Throws InvalidProviderRequest with every field that does
 * not fit; a field that the schema does not name passes, as an entity or a later version may have its own.
 */
export const checkRequest = (schema: v.GenericSchema, request: unknown, route: string): void => {
  const parsed = v.safeParse(schema, request);
  if (parsed.success) return;
  const violations = parsed.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? '',
    rule: ruleOf(issue),
  }));
  throw new InvalidProviderRequest(route, violations);
};
