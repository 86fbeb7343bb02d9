import { createHmac } from 'node:crypto';

/** The secret's prefix in the Standard Webhooks specification. The rest is base64. */
export const secretPrefix = 'whsec_';

/**
 * The headers by which a handler verifies an event: https://www.standardwebhooks.com. The id is that of the event, so it is
 * the same in every repetition.
 */
export const signEvent = (
  eventId: string,
  body: string,
  secret: string,
  now: Date,
): Readonly<Record<string, string>> => {
  const timestamp = Math.floor(now.getTime() / 1_000).toString();
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
};
