import { createHmac, timingSafeEqual } from 'node:crypto';
import { verify as verifyByOctokit } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook, WebhookVerificationError } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { signingKeyOf, verifySignature } from '../../../lib/webhook/verify-signature.ts';

/** A body, as the received bytes and as the text that most libraries expect. Decoding is not timed. */
type Body = { readonly bytes: Buffer; readonly text: string };

/** A typical delivery, one of 2 KB, and one of four times the webhook's limit. */
export const bodySizes = [120, 2_048, 65_536] as const;

/** A delivery of so many bytes of JSON. A field pads it. */
export const bodyOf = (bytes: number, task: 'this' | 'that'): Body => {
  const delivery = { taskId: `4f1c9a52-6d0e-4b7a-9a53-${task}`, taskStatus: 'COMPLETED', filler: '' };
  const filler = 'x'.repeat(bytes - JSON.stringify(delivery).length);
  const text = JSON.stringify({ ...delivery, filler });
  return { bytes: Buffer.from(text), text };
};

export type Contender = {
  readonly name: string;
  /** Whether it accepts a body with its signature. This is timed. */
  readonly right: () => boolean | Promise<boolean>;
  /** Whether it accepts a forged body. */
  readonly wrong: readonly (() => boolean | Promise<boolean>)[];
};

/** A contender accepts a forged body or refuses a valid one, so its speed means nothing. */
export class NotACheck extends Error {
  override readonly name = 'NotACheck';
}

/** Throws NotACheck if a contender refuses a valid body or accepts a forged one. */
export const prove = async ({ name, right, wrong }: Contender): Promise<void> => {
  if (!(await right())) throw new NotACheck(`${name} refuses a valid signature.`);
  for (const check of wrong) if (await check()) throw new NotACheck(`${name} accepts a forged signature.`);
};

const contender =
  <Header>(
    name: string,
    sign: (body: Body) => Header,
    check: (body: Body, header: Header) => boolean | Promise<boolean>,
  ) =>
  (body: Body, other: Body): Contender => {
    const header = sign(body);
    const othersHeader = sign(other);
    return {
      name,
      right: () => check(body, header),
      wrong: [() => check(other, header), () => check(body, othersHeader)],
    };
  };

/** True, or false if it throws its error for a wrong signature. */
const takes = (refusal: new (...given: never[]) => Error, check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof refusal) return false;
    throw error;
  }
};

const key = 'a-signing-key-of-ordinary-length-0123456789';
const hmac = (signed: string | Uint8Array) => createHmac('sha256', key).update(signed);
const sha256Header = ({ bytes }: Body): string => `sha256=${hmac(bytes).digest('hex')}`;

/** The minimal check, as it is usually written by hand. */
const byHand = ({ bytes }: Body, header: string): boolean =>
  timingSafeEqual(createHmac('sha256', key).update(bytes).digest(), Buffer.from(header.slice(7), 'hex'));

const ourKeys = [signingKeyOf(key)];

const { signature: stripeSignature } = Stripe.webhooks;
/** The default tolerance of constructEvent, which would also parse. https://docs.stripe.com/webhooks#replay-attacks */
const stripeTolerance = Stripe.webhooks.DEFAULT_TOLERANCE;

// Both take the key in base64 and decode it once.
const secret = `whsec_${Buffer.from(key).toString('base64')}`;
const standardWebhook = new StandardWebhook(secret);
const svixWebhook = new SvixWebhook(secret);

const standardHeaders =
  <Prefix extends string>(prefix: Prefix) =>
  ({ text }: Body) => {
    const id = 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj';
    const timestamp = Math.floor(Date.now() / 1000);
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(timestamp),
      [`${prefix}-signature`]: `v1,${hmac(`${id}.${timestamp}.${text}`).digest('base64')}`,
    };
  };

export const floor = contender('floor: createHmac + timingSafeEqual', sha256Header, byHand);

/** Each signs with node:crypto in the library's format, and checks with the entry point that only verifies. */
export const contenders = [
  // Its distance from 1 is the error of all figures.
  contender('the floor once more', sha256Header, ({ bytes }, header) =>
    timingSafeEqual(createHmac('sha256', key).update(bytes).digest(), Buffer.from(header.slice(7), 'hex')),
  ),
  contender(
    'Cosecha: verifySignature',
    sha256Header,
    ({ bytes }, header) => verifySignature(header, bytes, ourKeys).verified,
  ),
  contender('@octokit/webhooks-methods: verify', sha256Header, ({ text }, header) =>
    verifyByOctokit(key, text, header),
  ),
  contender(
    'stripe: signature.verifyHeader',
    ({ text }) => {
      const timestamp = Math.floor(Date.now() / 1000);
      return `t=${timestamp},v1=${hmac(`${timestamp}.${text}`).digest('hex')}`;
    },
    ({ text }, header) =>
      takes(Stripe.errors.StripeSignatureVerificationError, () =>
        stripeSignature?.verifyHeader(text, header, key, stripeTolerance),
      ),
  ),
  contender('standardwebhooks: Webhook.verify', standardHeaders('webhook'), ({ text }, headers) =>
    takes(WebhookVerificationError, () => standardWebhook.verify(text, headers, { jsonParse: false })),
  ),
  contender('svix: Webhook.verify', standardHeaders('svix'), ({ text }, headers) =>
    takes(WebhookVerificationError, () => svixWebhook.verify(text, headers)),
  ),
];
