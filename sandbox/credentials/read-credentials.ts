import * as v from 'valibot';
import { decrypt } from '../encryption-scheme.ts';
import { entityOf } from '../entities.ts';
import type { Session } from '../state-types.ts';
import { jsonFrom } from '../transport/read-json.ts';

/** Credentials as requests have them: `{mode, value}`. */
export const CredentialsSchema = v.variant('mode', [
  v.strictObject({ mode: v.literal('raw'), value: v.record(v.string(), v.unknown()) }),
  v.strictObject({ mode: v.literal('encrypted'), value: v.string() }),
  v.strictObject({ mode: v.literal('persisted'), value: v.string() }),
]);
type WireCredentials = v.InferOutput<typeof CredentialsSchema>;

/** The three fields that the document shows. An entity may have others. */
const RawCredentialsSchema = v.looseObject({
  username: v.pipe(v.string(), v.minLength(1)),
  password: v.pipe(v.string(), v.minLength(1)),
  businessId: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
});

export type Identity = {
  readonly username: string;
  readonly businessId?: string | undefined;
};

/** "Limits": encrypted credentials are valid for at most 60 minutes. Their age is that of their session token. */
const encryptionValidityMs = 60 * 60 * 1000;

/** The call's session, its time (ms since the epoch) and its entity. */
type CredentialsContext = {
  readonly session: Session;
  readonly now: number;
  readonly entityId: string;
};

/**
 * The username and businessId of credentials. Undefined if they cannot be read, or lack a field that the entity requires.
 * The password is not returned.
 */
export const readCredentials = (
  credentials: WireCredentials,
  { session, now, entityId }: CredentialsContext,
): Identity | undefined => {
  const parsed = v.safeParse(RawCredentialsSchema, openCredentials(credentials, session, now));
  if (!parsed.success) return undefined;
  const { username, businessId } = parsed.output;
  // "Credentials": "for business banking `businessId`".
  if (businessId === undefined && entityOf(entityId)?.type === 'business-bank') return undefined;
  return { username, businessId };
};

const openCredentials = (credentials: WireCredentials, session: Session, now: number): unknown => {
  switch (credentials.mode) {
    case 'raw':
      return credentials.value;
    case 'encrypted':
      if (now >= session.issuedAt + encryptionValidityMs) return undefined;
      return jsonFrom(decrypt(credentials.value, session.token) ?? '');
    case 'persisted':
      return jsonFrom(Buffer.from(credentials.value, 'base64').toString('utf8'));
  }
};

/**
 * The document does not show the provider's persistent encryption. In the sandbox a persisted value is the base64 of the
 * raw credentials' JSON.
 */
export const persistCredentials = (raw: Readonly<Record<string, unknown>>): string =>
  Buffer.from(JSON.stringify(raw), 'utf8').toString('base64');
