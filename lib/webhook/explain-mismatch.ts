import { createSecretKey } from 'node:crypto';
import type { Telemetry } from '../observability/telemetry.ts';
import { secretsIn } from '../secret-shape.ts';
import { type SigningKey, signingKeyOf, verifySignature } from './verify-signature.ts';

/** In milliseconds. Each delivery of a wrongly encoded key would repeat the same. */
const pauseMs = 60_000;

const forms = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]{2,}={0,2}$/ } as const;

/** The bytes that a key may encode, each as a key whose `text` names the encoding. */
const decodingsOf = (text: string): readonly SigningKey[] =>
  (['hex', 'base64'] as const)
    .filter((encoding) => forms[encoding].test(text))
    // Node's base64 also decodes the alphabet for URLs.
    .map((encoding) => ({ text: encoding, secret: createSecretKey(Buffer.from(text, encoding)) }));

/** The same of what the text has more than the key, such as quotes, and the key without it. */
const explanationsOf = ({ text }: SigningKey): readonly SigningKey[] => [
  ...decodingsOf(text),
  ...secretsIn(text).flatMap(({ fault, text: inner }) =>
    [signingKeyOf(inner), ...decodingsOf(inner)].map(({ secret }) => ({ text: fault, secret })),
  ),
];

/** Logs and counts it if a refused signature fits what the text of one of the keys encodes or contains. It stays refused. */
export type ExplainMismatch = (
  signature: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
) => void;

/**
 * The encoding of the shared key is not shown ("Events", rules 1 and 6), so its text is taken as it is. If the provider signs with
 * the bytes that the text encodes, or if the secret was filled with more than the key, every delivery is refused as if it were forged.
 * That is reported once a minute at most.
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
    const encoding = found.key;
    telemetry.log(
      'The provider signs with what the text of the signing key encodes or contains.',
      { encoding },
      'error',
    );
  };
};
