import * as v from 'valibot';
import { freshConnectionFetch } from '../../provider/transport/fresh-connection.ts';
import type { Connection } from '../../provider/transport/send-request.ts';

const timeoutsSchema = v.strictObject({ connect: v.number(), total: v.number() });

/** In milliseconds. */
export type ProviderTimeouts = Readonly<v.InferOutput<typeof timeoutsSchema>>;

/** Reads the `PROVIDER_TIMEOUTS` environment variable. Throws ValiError on a deployment that set it wrongly. */
export const parseProviderTimeouts = (json: string): ProviderTimeouts =>
  v.parse(timeoutsSchema, JSON.parse(json));

/** How the provider is reached with the settings of a deployment. */
export const createConnection = (
  baseUrl: string,
  timeouts: ProviderTimeouts,
  maxAnswerBytes: number,
): Connection => ({
  baseUrl,
  fetch: freshConnectionFetch(timeouts.connect),
  totalTimeoutMs: timeouts.total,
  maxAnswerBytes,
});
