import { createHmac } from 'node:crypto';

/** A JWT (HS256): the document's format of OTP tokens and Task Tokens. Times are in seconds (RFC 7519). */
export const makeJwt = (claims: Readonly<Record<string, unknown>>, secret: Uint8Array): string => {
  const head = [{ alg: 'HS256', typ: 'JWT' }, claims].map(encoded).join('.');
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
};

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
