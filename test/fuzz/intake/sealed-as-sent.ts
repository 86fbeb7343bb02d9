import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeSealed, encodeSealed } from '../../../lib/extraction/sealed-request-data.ts';
import { textOf } from '../generators/extraction-request.ts';
import { eventOf } from '../generators/request-event.ts';
import { fuzzProperty } from '../property.ts';
import { intakeWorld } from './intake-world.ts';
import { plaintextBytes } from './oracle.ts';

/** KMS Encrypt takes this much (https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html). */
const limit = 4_096;

/** One to four bytes of UTF-8, two bytes of JSON escape, and six. */
const fillings = ['x', 'ñ', '€', '😀', '"', '\u0000', '\ud800'] as const;

const modes = {
  raw: (value: string) => ({
    credentials: { mode: 'raw', value: { '@proto': { u: value }, constructor: 1 } },
    confirmed: true,
  }),
  persisted: (value: string) => ({ credentials: { mode: 'persisted', value } }),
  encrypted: (value: string) => ({ credentials: { mode: 'encrypted', value }, sessionToken: 't'.repeat(20) }),
} as const;

/** As much of `filling` as leads to a plaintext of about `size` bytes. */
const filled = (mode: keyof typeof modes, filling: string, size: number) => {
  const empty = JSON.parse(textOf(modes[mode](''))) as { readonly [name: string]: unknown };
  const each =
    JSON.stringify(filling).length === 3 ? Buffer.byteLength(filling) : JSON.stringify(filling).length - 2;
  const unit = filling === '😀' ? 4 : each;
  const value = filling.repeat(Math.max(1, Math.round((size - plaintextBytes(empty)) / unit)));
  return textOf({ entity: 'bank', actions: [{ id: 'tef' }], ...modes[mode](value) });
};

export const sealedAsSent = fuzzProperty({
  name: 'intake/sealed-as-sent',
  claim:
    'at most 4,096 bytes are sealed, more is refused before any write, and the sealed data are those that were sent',
  weight: 5,
  expected: { sealed: 0.3, refused: 0.2 },
  cases: fc.record({
    mode: fc.constantFrom('raw', 'persisted', 'encrypted'),
    filling: fc.constantFrom(...fillings),
    size: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: limit - 8, max: limit + 8 }) },
      { weight: 1, arbitrary: fc.integer({ min: 100, max: 12_000 }) },
    ),
  }),
  check: async ({ mode, filling, size }, see) => {
    if (mode !== 'raw' && filling === '\ud800') return;
    const text = filled(mode, filling, size);
    const sent = JSON.parse(text) as {
      readonly credentials: unknown;
      readonly sessionToken?: string;
      readonly confirmed?: true;
    };
    const world = intakeWorld();
    const plan = {
      body: Buffer.from(text),
      base64: false,
      idempotencyKey: undefined,
      caller: 'c',
      contentType: undefined,
    };
    const { statusCode, body } = await world.request(eventOf(plan));
    const bytes = plaintextBytes(sent);
    const tooLong = mode !== 'raw' && [...(sent.credentials as { value: string }).value].length > limit;
    assert.equal(statusCode, bytes > limit || tooLong ? 400 : 202, `${bytes} bytes: ${body}`);
    const [sealing] = world.sealed;
    if (sealing === undefined) {
      see('refused');
      assert.match(body ?? '', /"pointer":"\/credentials/);
      assert.equal(world.records.size, 0);
      return;
    }
    see('sealed');
    const [extractionId, plaintext] = sealing;
    const encoded = encodeSealed(plaintext);
    assert.equal(encoded.byteLength, bytes);
    assert.ok(world.records.has(extractionId));
    const { credentials, sessionToken, confirmed } = sent;
    assert.deepEqual(decodeSealed(encoded), {
      credentials,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      ...(confirmed === undefined ? {} : { confirmed }),
    });
  },
});
