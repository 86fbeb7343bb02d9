import * as v from 'valibot';
import { InvalidProviderRequest } from './errors.ts';

/** Replaces messages of valibot, which quote the value. Messages of our schemas do not. */
const ruleOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.received === 'undefined') return 'is required';
  return issue.message.startsWith('Invalid ') ? 'is not valid' : issue.message;
};

/**
 * Validates a request before it is sent. Throws InvalidProviderRequest with every violation. A field that the schema does not name is
 * accepted, because an entity or a later version may need it.
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
