import { HTTPException } from 'hono/http-exception';
import type { SandboxContext } from './hono-types.ts';

type Status = 400 | 401 | 403 | 404 | 409;

/** An error that a route throws to answer with this status and JSON. */
export const refused = (status: Status, body: Readonly<Record<string, unknown>>): HTTPException =>
  new HTTPException(status, { res: Response.json(body, { status }) });

/**
 * The same with the error body of the consent flow: "discriminated by `errorType` (and `errorCode` for subcategories)". The
 * document shows neither their values nor the error bodies of v1, so the values are invented and v1 has the same bodies.
 */
export const consentRefused = (
  status: Status,
  errorType: string,
  message: string,
  errorCode?: string,
): HTTPException => refused(status, { errorType, errorCode, message });

/** An invalid request, with the paths of its invalid fields. The calls of the consent flow are those with a Task Token. */
export const invalidRequest = (c: SandboxContext, invalid: readonly string[]): HTTPException => {
  const message = 'Invalid request';
  const isConsentFlow = c.get('taskToken') !== undefined;
  return refused(
    400,
    isConsentFlow ? { errorType: 'INVALID_REQUEST', invalid, message } : { message, invalid },
  );
};
