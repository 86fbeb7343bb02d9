import * as v from 'valibot';
import type { DeliveryPorts } from './deliver.ts';
import { isEqual, openToken } from './tokens.ts';

export type ProviderRequest = {
  readonly method: string;
  readonly path: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
};

export type ProviderAnswer = { readonly status: number; readonly body: unknown };

export interface ProviderPorts extends DeliveryPorts {
  /** In seconds since 1970. */
  now(): number;
  /** A few random letters and digits. */
  nonce(): string;
  sleep(seconds: number): Promise<void>;
}

/** One request, and what every route needs to answer it. */
export type Call = {
  readonly request: ProviderRequest;
  readonly ports: ProviderPorts;
  /** The key of all tokens. */
  readonly key: string;
  readonly now: number;
  /** The variable parts of the path. */
  readonly params: readonly string[];
};

/** The request is answered with this status instead of a 2xx. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly errorType: string;

  constructor(status: number, errorType: string) {
    super(`The fake provider refuses the request: ${status} ${errorType}.`);
    this.status = status;
    this.errorType = errorType;
  }
}

export const ok = (body: unknown): ProviderAnswer => ({ status: 200, body });

/** Parses the body. Throws Refused with 400 if it does not match. */
export const readBody = <Schema extends v.GenericSchema>(
  { request }: Call,
  schema: Schema,
): v.InferOutput<Schema> => {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), request.body);
  if (!parsed.success) throw new Refused(400, 'INVALID_REQUEST');
  return parsed.output;
};

/** Throws Refused with 401 unless the request has the registered API key. */
export const checkApiKey = async ({ request, ports }: Call): Promise<void> => {
  const { apiKey } = await ports.registration();
  if (!isEqual(request.headers['x-api-key'] ?? '', apiKey)) throw new Refused(401, 'INVALID_API_KEY');
};

/** The Bearer token and its fields. The last field is when it expires. Throws Refused with 401 if it is not valid. */
export const readBearer = ({ request, key, now }: Call, kind: 'session' | 'user') => {
  const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
  const fields = openToken(key, kind, token);
  if (fields === undefined || Number(fields.at(-1)) <= now) throw new Refused(401, 'INVALID_TOKEN');
  return { token, fields };
};
