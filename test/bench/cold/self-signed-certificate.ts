import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** ASN.1 in DER, as far as such a certificate needs it (ITU-T X.690). */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const identifier = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const utcTime = (time: Date) =>
  der(0x17, Buffer.from(`${time.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);

const ecdsaWithSha256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = identifier(0x55, 0x04, 0x03);
const subjectAltName = identifier(0x55, 0x1d, 0x11);

const DAY_MS = 86_400_000;

/**
 * A key and a certificate for 127.0.0.1, good for a day: Node can make keys, but no certificates, and a machine that
 * has Node need not have `openssl`.
 */
export const selfSignedCertificate = (now: Date): { readonly key: string; readonly certificate: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('cosecha-bench')))));
  const address = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, and not shorter than it says: its first byte is between 1 and 127.
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(now.getTime() - DAY_MS)), utcTime(new Date(now.getTime() + DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, address)))),
  );
  const certificate = sequence(toSign, ecdsaWithSha256, bits(sign('sha256', toSign, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
};
