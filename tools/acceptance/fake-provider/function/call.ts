import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import type { DeliveryPorts } from './deliver.ts';
import { isEqual, openToken } from './issue-token.ts';

export interface ProviderPorts extends DeliveryPorts {
  /** In seconds since 1970. */
  now(): number;
  /** A few random letters and digits. */
  nonce(): string;
  sleep(seconds: number): Promise<void>;
}

export type ProviderEnv = {
  Variables: { readonly ports: ProviderPorts; readonly key: string; readonly now: number };
};

export type Call = Context<ProviderEnv>;

/** To throw: the request is answered with this status and error type instead of a 2xx. */
export const refused = (status: HTTPException['status'], errorType: string): HTTPException =>
  new HTTPException(status, { message: errorType });

/** Parses the body. Refused with 400 if it does not match. */
export const readBody = async <Schema extends v.GenericSchema>({ req }: Call, schema: Schema) => {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await req.text());
  if (!parsed.success) throw refused(400, 'INVALID_REQUEST');
  return parsed.output;
};

/** Refused with 401 unless the request has a header of the provider's API for credentials. */
export const assertNamesCredentials = ({ req }: Call): void => {
  if (req.header('x-api-key') !== undefined) return;
  if (!bearer.test(req.header('authorization') ?? '')) throw refused(401, 'NO_CREDENTIALS');
};

const bearer = /^Bearer (\S+)$/;

/** Refused with 401 unless the request has the registered API key. */
export const checkApiKey = async ({ req, var: { ports } }: Call): Promise<void> => {
  const { apiKey } = await ports.registration();
  if (!isEqual(req.header('x-api-key') ?? '', apiKey)) throw refused(401, 'INVALID_API_KEY');
};

/** The Bearer token and its fields. The last field is when it expires. Refused with 401 if it is not valid. */
export const readBearer = ({ req, var: { key, now } }: Call, kind: 'session' | 'user') => {
  const [, token = ''] = bearer.exec(req.header('authorization') ?? '') ?? [];
  const fields = openToken(key, kind, token);
  if (fields === undefined || Number(fields.at(-1)) <= now) throw refused(401, 'INVALID_TOKEN');
  return { token, fields };
};
