import { createCipheriv, createHash } from 'node:crypto';
import fc from 'fast-check';

/** What is done to a wrapped payload, each a way in which a decryption may fail. `none` is the mode as documented. */
export const wrapperDamages = [
  'none',
  'padding of zeros',
  'padding of 17',
  'padding of 0',
  'padding as of ISO 7816',
  'padding that is not all the same',
  'no padding',
  'a bit of the padding',
  'a bit of the IV',
  'a byte less',
  'a block less',
  'all blocks less',
  'two blocks swapped',
  'a block twice',
  'IV of 15 bytes',
  'IV of 17 bytes',
  'no IV',
  'no hyphen',
  'two hyphens',
  'base64url',
  'base64 without padding',
  'a line break',
  'a space',
  'not base64',
  'halves swapped',
  'data is a number',
  'data is null',
  'data is a list',
  'a taskId beside data',
] as const;
export type WrapperDamage = (typeof wrapperDamages)[number];

export type Wrapper = {
  readonly iv: Uint8Array;
  readonly damage: WrapperDamage;
  /** Fields beside `data`, none of which says anything. */
  readonly more: Readonly<Record<string, unknown>>;
};

export const wrapper = (damages: readonly WrapperDamage[] = wrapperDamages): fc.Arbitrary<Wrapper> =>
  fc.record({
    iv: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    damage: fc.oneof(
      { weight: damages.includes('none') ? 1 : 0, arbitrary: fc.constant('none' as const) },
      { weight: 1, arbitrary: fc.constantFrom(...damages) },
    ),
    more: fc.constantFrom<Readonly<Record<string, unknown>>>({}, { version: 2 }, { taskStatus: 'FAILED' }),
  });

const block = 16;

const pkcs = (bytes: Uint8Array): Buffer => {
  const missing = block - (bytes.length % block);
  return Buffer.concat([bytes, Buffer.alloc(missing, missing)]);
};

/** The payload in whole blocks; `damage` may leave its padding not as PKCS #7 has it. */
const padded = (payload: Uint8Array, damage: WrapperDamage): Buffer => {
  const right = pkcs(payload);
  const missing = right.length - payload.length;
  const ending = (bytes: Uint8Array): Buffer => Buffer.concat([payload, bytes]);
  switch (damage) {
    case 'padding of zeros':
    case 'padding of 0':
      return ending(Buffer.alloc(missing));
    case 'padding of 17':
      return ending(Buffer.alloc(missing, 17));
    case 'padding as of ISO 7816':
      return ending(Buffer.concat([Buffer.of(0x80), Buffer.alloc(missing - 1)]));
    case 'padding that is not all the same':
      // Of one byte there is nothing to differ; then a whole block that claims to be padding and is not.
      return missing === 1
        ? Buffer.concat([right, Buffer.alloc(block - 1), Buffer.of(block)])
        : ending(Buffer.concat([Buffer.of(missing ^ 1), Buffer.alloc(missing - 1, missing)]));
    case 'no padding':
      // Whole blocks of text: the last byte of a JSON text is no number from 1 to 16.
      return Buffer.concat([payload, Buffer.alloc(missing === block ? 0 : missing, ' ')]);
    default:
      return right;
  }
};

const flipped = (bytes: Uint8Array, index: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
};

const damagedBlocks = (ciphertext: Buffer, damage: WrapperDamage): Buffer => {
  const blocks = Array.from({ length: ciphertext.length / block }, (_, index) =>
    ciphertext.subarray(index * block, (index + 1) * block),
  );
  switch (damage) {
    case 'a bit of the padding':
      // In the block before the last, which changes the same bit of the last one's plaintext.
      return blocks.length > 1 ? flipped(ciphertext, ciphertext.length - block - 1) : flipped(ciphertext, 15);
    case 'a byte less':
      return ciphertext.subarray(1);
    case 'a block less':
      return ciphertext.subarray(0, -block);
    case 'all blocks less':
      return Buffer.alloc(0);
    case 'two blocks swapped':
      return Buffer.concat([...blocks.slice(0, -2), ...blocks.slice(-2).reverse()]);
    case 'a block twice':
      return Buffer.concat([ciphertext, ...blocks.slice(-1)]);
    default:
      return ciphertext;
  }
};

const damagedIv = (iv: Uint8Array, damage: WrapperDamage): Buffer => {
  if (damage === 'a bit of the IV') return flipped(iv, 0);
  if (damage === 'IV of 15 bytes') return Buffer.from(iv.subarray(1));
  if (damage === 'IV of 17 bytes') return Buffer.concat([iv, Buffer.of(1)]);
  return Buffer.from(iv);
};

const damagedText = (ciphertext: string, iv: string, damage: WrapperDamage): unknown => {
  const text = `${ciphertext}-${iv}`;
  switch (damage) {
    case 'no IV':
      return `${ciphertext}-`;
    case 'no hyphen':
      return ciphertext + iv;
    case 'two hyphens':
      return `${text}-${iv}`;
    case 'base64url':
      return `_${ciphertext.slice(1)}-${iv}`;
    case 'base64 without padding':
      return `${ciphertext}-${iv.replace(/=+$/, '')}`;
    case 'a line break':
      return `${ciphertext.slice(0, 8)}\n${ciphertext.slice(8)}-${iv}`;
    case 'a space':
      return `${text} `;
    case 'not base64':
      return `*${text.slice(1)}`;
    case 'halves swapped':
      return `${iv}-${ciphertext}`;
    case 'data is a number':
      return 7;
    case 'data is null':
      return null;
    case 'data is a list':
      return [text];
    default:
      return text;
  }
};

/** The bytes of `{"data":"<CIPHER_TEXT>-<IV>"}` ("Events", rule 5) around a payload, under `key`, damaged or not. */
export const wrapped = (payload: Uint8Array, key: string, { iv, damage, more }: Wrapper): Buffer => {
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(key, 'utf8').digest(), iv);
  cipher.setAutoPadding(false);
  const plaintext = padded(payload, damage);
  const ciphertext = damagedBlocks(Buffer.concat([cipher.update(plaintext), cipher.final()]), damage);
  const data = damagedText(ciphertext.toString('base64'), damagedIv(iv, damage).toString('base64'), damage);
  return Buffer.from(
    JSON.stringify({ ...more, data, ...(damage === 'a taskId beside data' ? { taskId: null } : {}) }),
  );
};
