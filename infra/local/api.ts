import { AwsClient } from 'aws4fetch';
import type { Emulator } from './emulator.ts';

/** Whose signature a request carries, and where: the `client` of an emulator, or other credentials on it. */
export type Signer = Pick<Emulator['client'], 'region' | 'credentials'>;

/**
 * Where the emulator serves an HTTP API: by path, as Node resolves no `*.localhost` and the host of the stack's own
 * output is one. Without a trailing slash; routes are appended to it.
 */
export function apiBase(endpoint: string, apiId: string): string {
  return `${endpoint}/_aws/execute-api/${apiId}/$default`;
}

/** The same place as a URL of the API on AWS, by its path; for example that of the output WebhookUrl. */
export function onEmulator(base: string, url: string): string {
  const { pathname } = new URL(url);
  return pathname === '/' ? base : `${base}${pathname}`;
}

/**
 * A fetch that signs every request for API Gateway (SigV4, service `execute-api`), for IAM-authorized routes. The URL
 * is signed as it is called. No retries: what the API answers is what the caller gets.
 */
export function signedFetch({
  region,
  credentials,
}: Signer): (url: string, init?: RequestInit) => Promise<Response> {
  const aws = new AwsClient({ ...credentials, service: 'execute-api', region, retries: 0 });
  return (url, init) => aws.fetch(url, init);
}
