import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import type { DeliveryEvent } from '#lib/webhook/receive-delivery.ts';
import { flipped } from './damaged-bytes.ts';
import { deliveryBytes } from './delivery-bytes.ts';
import { rightWrapper, type Wrapper, wrapped, wrapper } from './encrypted-delivery.ts';
import { type Mangling, type Mistake, mangled, mangling, mistake, signedWith } from './signature-header.ts';

/** Whose key: the secret's current one, the one before it (or the current, if there is none), or nobody's. */
type Signer = 'current' | 'previous' | 'stranger';

const keyOf = (signer: Signer, keys: readonly string[]): string => {
  const [current = '', previous = current] = keys;
  // Longer than every key of the secret, and of no NULs, so that HMAC's padding makes no other key of it.
  const stranger = `nobody gave out ${keys.join()}`;
  return { current, previous, stranger }[signer];
};

/** How the body's bytes are deferred. API Gateway does the first two. */
const encodings = {
  // API Gateway has no text of what is no UTF-8.
  text: (bytes: Buffer) => ({
    body: bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64'),
    isBase64Encoded: !isUtf8(bytes),
  }),
  base64: (bytes: Buffer) => ({ body: bytes.toString('base64'), isBase64Encoded: true }),
  base64url: (bytes: Buffer) => ({ body: bytes.toString('base64url'), isBase64Encoded: true }),
  'base64 in lines': (bytes: Buffer) => ({
    body: bytes.toString('base64').replace(/.{20}/g, '$&\r\n'),
    isBase64Encoded: true,
  }),
  'base64 unsaid': (bytes: Buffer) => ({ body: bytes.toString('base64'), isBase64Encoded: false }),
  'text said to be base64': (bytes: Buffer) => ({ body: bytes.toString('latin1'), isBase64Encoded: true }),
};
type Encoding = keyof typeof encodings;

/** A delivery as a plan, from which the event follows once the keys are known. */
export type DeliveryPlan = {
  readonly payload: Buffer;
  /** Undefined: the plain mode. */
  readonly encrypted: { readonly under: Signer; readonly wrapper: Wrapper } | undefined;
  readonly signer: Signer;
  readonly mistake: Mistake;
  readonly mangling: Mangling;
  /** Of the signature. */
  readonly flippedBit?: number;
  /** Under which name the header comes; undefined: not at all. */
  readonly header: string | undefined;
  readonly encoding: Encoding;
};

/** The body's bytes as they are sent, which is what a provider signs. */
const sentBytes = ({ payload, encrypted }: DeliveryPlan, keys: readonly string[]): Buffer =>
  encrypted === undefined ? payload : wrapped(payload, keyOf(encrypted.under, keys), encrypted.wrapper);

/** The event of a plan. An empty body comes as none, as API Gateway has it. */
export const eventOf = (plan: DeliveryPlan, keys: readonly string[]): DeliveryEvent => {
  const bytes = sentBytes(plan, keys);
  const { body, isBase64Encoded } = encodings[plan.encoding](bytes);
  const right = signedWith(bytes, keyOf(plan.signer, keys), plan.mistake);
  const { flippedBit: bit } = plan;
  const sent =
    bit === undefined ? right : `sha256=${flipped(Buffer.from(right.slice(7), 'hex'), bit).toString('hex')}`;
  const signature = mangled(sent, plan.mangling);
  return {
    ...(body === '' ? {} : { body }),
    isBase64Encoded,
    headers: {
      'content-type': 'application/json',
      ...(plan.header === undefined ? {} : { [plan.header]: signature }),
    },
  };
};

const mostly = <T>(usual: T, sometimes: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: sometimes });

export const signer: fc.Arbitrary<Signer> = fc.constantFrom('current', 'previous', 'stranger');

/** Any delivery: right, nearly right, and wrong in every way at once. About half of them are verified. */
export const deliveryPlan: fc.Arbitrary<DeliveryPlan> = fc.record({
  payload: deliveryBytes,
  encrypted: fc.option(fc.record({ under: mostly<Signer>('current', signer, 2), wrapper }), {
    nil: undefined,
    freq: 2,
  }),
  signer: mostly<Signer>('current', signer, 2),
  mistake: mostly<Mistake>('none', mistake, 5),
  mangling: mostly<Mangling>('as it is', mangling, 5),
  header: mostly<string | undefined>(
    'x-service-signature',
    fc.constantFrom(undefined, 'X-Service-Signature', 'x-service-signature-256', 'authorization'),
    20,
  ),
  encoding: mostly<Encoding>('text', fc.constantFrom(...(Object.keys(encodings) as Encoding[])), 2),
});

/** A delivery of this payload as the provider makes it, in either mode, signed with either key. */
export const signedPlan = (payload: fc.Arbitrary<Buffer>): fc.Arbitrary<DeliveryPlan> =>
  fc
    .record({
      payload,
      signer: fc.constantFrom<Signer>('current', 'previous'),
      mistake: fc.constant<Mistake>('none'),
      mangling: fc.constantFrom<Mangling>('as it is', 'in capitals', 'in mixed case'),
      header: fc.constant('x-service-signature'),
      encoding: fc.constantFrom<Encoding>('text', 'base64'),
      wrapper: fc.option(rightWrapper, { nil: undefined, freq: 2 }),
    })
    .map(({ wrapper, ...plan }) => ({
      ...plan,
      encrypted: wrapper === undefined ? undefined : { under: plan.signer, wrapper },
    }));

/** A delivery with any content and without a valid signature. */
export const unsignedPlan: fc.Arbitrary<DeliveryPlan> = fc
  .tuple(
    deliveryPlan,
    fc.oneof(
      { weight: 1, arbitrary: fc.nat(255).map((flippedBit): Partial<DeliveryPlan> => ({ flippedBit })) },
      {
        weight: 2,
        arbitrary: fc.constantFrom<Partial<DeliveryPlan>>(
          { signer: 'stranger' },
          { header: undefined },
          { mistake: 'another body' },
          { mangling: 'last byte other' },
          { mangling: 'first byte other' },
          { mangling: 'a digit long' },
          { mangling: 'half of it' },
          { mangling: 'empty' },
        ),
      },
    ),
  )
  .map(([plan, wrong]) => ({ ...plan, ...wrong }));
