import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { foreignRefusal, type OwnAddress } from '../../../lib/http/loopback-guard.ts';

/** Where the console serves: its port, and the secret first part of every path. */
export type ConsoleAddress = OwnAddress & { readonly token: string };

/**
 * Everything on a page comes from this server. No inline script or style runs, so a text that was not escaped could not
 * run either. Nothing may frame a page.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Digests have equal lengths, so the comparison reveals nothing about the token, not even its length. */
const isEqual = (one: string, other: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

/** Why a request is refused, or undefined. Another page cannot guess the token, and is refused also if it learned the address. */
export const refusalOf = (request: Request, address: ConsoleAddress): string | undefined => {
  const foreign = foreignRefusal(request, address);
  if (foreign !== undefined) return foreign;
  if (request.method === 'POST' && request.headers.get('origin') === null) {
    return 'A form has to be sent from a page of the console.';
  }
  if (!isEqual(new URL(request.url).pathname.split('/')[1] ?? '', address.token)) {
    return 'Open the whole address that the command printed. It contains a secret that is new at each start.';
  }
  return undefined;
};

/**
 * Set for a page with a form that acts. After a page with the policy `no-referrer`, a browser sends `Origin: null` with
 * a form (https://fetch.spec.whatwg.org/#append-a-request-origin-header). Such a page has no link to another site.
 */
export type ConsoleEnv = { Variables: { hasForm?: true } };

/** Refuses every request that is not from the operator's own page, and sets the headers of every answer. */
export const guardRequest =
  (address: ConsoleAddress): MiddlewareHandler<ConsoleEnv> =>
  async (c, next) => {
    const refusal = refusalOf(c.req.raw, address);
    if (refusal === undefined) await next();
    else c.res = new Response(`${refusal}\n`, { status: 403, headers: { 'content-type': 'text/plain' } });
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    c.res.headers.set('referrer-policy', c.get('hasForm') === true ? 'same-origin' : 'no-referrer');
  };
