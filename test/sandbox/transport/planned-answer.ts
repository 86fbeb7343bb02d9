import { STATUS_CODES } from 'node:http';
import type { PlannedAnswer } from '../plan.ts';

/** A Response with one of these may not have a body (Fetch standard, "null body status"). */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export const plannedAnswer = ({ status, body, headers }: PlannedAnswer): Response => {
  if (bodiless.has(status)) return new Response(null, { status, headers: headers ?? {} });
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? { message: STATUS_CODES[status] });
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
};
