import { createCipheriv, createHash } from 'node:crypto';
import fc from 'fast-check';
import { flipped } from './damaged-bytes.ts';

const block = 16;

/** What is done to a step of the encryption. */
type Damage = {
  /** What follows the payload, from how many bytes are missing to whole blocks. */
  readonly padding?: (missing: number) => Buffer;
  readonly ciphertext?: (bytes: Buffer) => Buffer;
  readonly iv?: (iv: Buffer) => Buffer;
  /** The field `data`, from its two halves in base64. */
  readonly data?: (ciphertext: string, iv: string) => unknown;
  /** Fields beside `data`. */
  readonly more?: object;
};

const pkcs = (missing: number): Buffer => Buffer.alloc(missing, missing);

const blocksOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: bytes.length / block }, (_, index) =>
    bytes.subarray(index * block, (index + 1) * block),
  );

/** The ways in which a decryption may fail. `none` is the mode as documented. */
const damages = {
  none: {},
  'padding of zeros': { padding: (missing) => Buffer.alloc(missing) },
  'padding of 17': { padding: (missing) => Buffer.alloc(missing, 17) },
  'padding as of ISO 7816': { padding: (missing) => Buffer.from([0x80, ...Buffer.alloc(missing - 1)]) },
  'padding that is not all the same': {
    padding: (missing) =>
      // Of one byte there is nothing to differ; then a whole block that claims to be padding and is not.
      missing === 1
        ? Buffer.from([1, ...Buffer.alloc(block - 1), block])
        : Buffer.from([missing ^ 1, ...pkcs(missing).subarray(1)]),
  },
  // Whole blocks of text: the last byte of a JSON text is no number from 1 to 16.
  'no padding': { padding: (missing) => Buffer.alloc(missing % block, ' ') },
  'a bit of the padding': {
    // In the block before the last, which changes the same bit of the last one's plaintext.
    ciphertext: (bytes) => flipped(bytes, 8 * Math.max(bytes.length - block - 1, block - 1)),
  },
  'a bit of the IV': { iv: (iv) => flipped(iv, 0) },
  'a byte less': { ciphertext: (bytes) => bytes.subarray(1) },
  'a block less': { ciphertext: (bytes) => bytes.subarray(0, -block) },
  'all blocks less': { ciphertext: () => Buffer.alloc(0) },
  'two blocks swapped': {
    ciphertext: (bytes) => {
      const blocks = blocksOf(bytes);
      return Buffer.concat([...blocks.slice(0, -2), ...blocks.slice(-2).reverse()]);
    },
  },
  'a block twice': { ciphertext: (bytes) => Buffer.concat([bytes, bytes.subarray(-block)]) },
  'IV of 15 bytes': { iv: (iv) => iv.subarray(1) },
  'IV of 17 bytes': { iv: (iv) => Buffer.from([...iv, 1]) },
  'no IV': { data: (ciphertext) => `${ciphertext}-` },
  'no hyphen': { data: (ciphertext, iv) => ciphertext + iv },
  'two hyphens': { data: (ciphertext, iv) => `${ciphertext}-${iv}-${iv}` },
  base64url: { data: (ciphertext, iv) => `_${ciphertext.slice(1)}-${iv}` },
  'base64 without padding': { data: (ciphertext, iv) => `${ciphertext}-${iv.replace(/=+$/, '')}` },
  'a line break': { data: (ciphertext, iv) => `${ciphertext.slice(0, 8)}\n${ciphertext.slice(8)}-${iv}` },
  'a space': { data: (ciphertext, iv) => `${ciphertext}-${iv} ` },
  'not base64': { data: (ciphertext, iv) => `*${ciphertext.slice(1)}-${iv}` },
  'halves swapped': { data: (ciphertext, iv) => `${iv}-${ciphertext}` },
  'data is a number': { data: () => 7 },
  'data is null': { data: () => null },
  'data is a list': { data: (ciphertext, iv) => [`${ciphertext}-${iv}`] },
  'a taskId beside data': { more: { taskId: null } },
} satisfies Readonly<Record<string, Damage>>;
type DamageName = keyof typeof damages;

export type Wrapper = {
  readonly iv: Uint8Array;
  readonly damage: DamageName;
  /** Fields beside `data`, none of which says anything. */
  readonly more: object;
};

const wrapperWith = (damage: fc.Arbitrary<DamageName>): fc.Arbitrary<Wrapper> =>
  fc.record({
    iv: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    damage,
    more: fc.constantFrom({}, { version: 2 }, { taskStatus: 'FAILED' }),
  });

/** As documented. */
export const rightWrapper = wrapperWith(fc.constant('none'));

/** As documented in half of the cases. */
export const wrapper = wrapperWith(
  fc.oneof(fc.constant('none' as const), fc.constantFrom(...(Object.keys(damages) as DamageName[]))),
);

/** The bytes of `{"data":"<CIPHER_TEXT>-<IV>"}` ("Events", rule 5) around a payload, under `key`, damaged or not. */
export const wrapped = (payload: Uint8Array, key: string, wrapper: Wrapper): Buffer => {
  const damage: Damage = damages[wrapper.damage];
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(key, 'utf8').digest(), wrapper.iv);
  cipher.setAutoPadding(false);
  const padding = (damage.padding ?? pkcs)(block - (payload.length % block));
  const right = Buffer.concat([cipher.update(payload), cipher.update(padding), cipher.final()]);
  const ciphertext = (damage.ciphertext?.(right) ?? right).toString('base64');
  const rightIv = Buffer.from(wrapper.iv);
  const iv = (damage.iv?.(rightIv) ?? rightIv).toString('base64');
  const data = damage.data === undefined ? `${ciphertext}-${iv}` : damage.data(ciphertext, iv);
  return Buffer.from(JSON.stringify({ ...wrapper.more, data, ...damage.more }));
};
