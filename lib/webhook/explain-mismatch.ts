import { createSecretKey } from 'node:crypto';
import type { Telemetry } from '../observability/telemetry.ts';
import { secretsIn } from '../secret-shape.ts';
import { type SigningKey, signingKeyOf, verifySignature } from './verify-signature.ts';

/** In milliseconds. With a wrongly encoded key, each delivery would report the same. */
const pauseMs = 60_000;

const forms = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]{2,}={0,2}$/ } as const;

/** Decodes the text of a key as hex and base64, if it may be either. `version` names what the text was taken for. */
const decodingsOf = (text: string): readonly SigningKey[] =>
  (['hex', 'base64'] as const)
    .filter((encoding) => forms[encoding].test(text))
    // Node's base64 also decodes the alphabet for URLs.
    .map((encoding) => ({
      text,
      version: encoding,
      secret: createSecretKey(Buffer.from(text, encoding)),
    }));

/** All keys that the text may have meant: it encodes the key, or contains more than the key, such as quotes. */
const explanationsOf = ({ text }: SigningKey): readonly SigningKey[] => [
  ...decodingsOf(text),
  ...secretsIn(text).flatMap(({ fault, text: inner }) =>
    [signingKeyOf(inner), ...decodingsOf(inner)].map((key) => ({ ...key, version: fault })),
  ),
];

/** Logs and counts a refused signature if it fits such a key. It stays refused. */
export type ExplainMismatch = (
  signature: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
) => void;

/**
 * The document does not show how the shared key is encoded ("Events", rules 1 and 6), so its text is used as it is. Every delivery is
 * refused like a forged one if the provider signs with the bytes that the text encodes, or if the secret contains more than the key. This
 * is reported, once a minute at most.
 */
export const explainMismatches = (
  telemetry: Pick<Telemetry, 'count' | 'log'>,
  now: () => Date,
): ExplainMismatch => {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (signature, body, keys) => {
    if (now().getTime() - reportedAt < pauseMs) return;
    const found = verifySignature(signature, body, keys.flatMap(explanationsOf));
    if (!found.verified) return;
    reportedAt = now().getTime();
    telemetry.count('WebhookKeyEncoded');
    telemetry.log(
      'The provider signs with what the text of the signing key encodes or contains.',
      { encoding: found.version },
      'error',
    );
  };
};
