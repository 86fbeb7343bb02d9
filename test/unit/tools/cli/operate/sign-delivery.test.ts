import { expect, test } from 'vitest';
import { parseDelivery } from '../../../../../lib/webhook/parse-delivery.ts';
import { signingKeyOf } from '../../../../../lib/webhook/signing-keys.ts';
import { verifySignature } from '../../../../../lib/webhook/verify-signature.ts';
import { signDelivery } from '../../../../../tools/cli/operate/sign-delivery.ts';

const payload = { taskId: 'task-1', taskStatus: 'PARTIAL' };

test.each([false, true])('the webhook accepts a test delivery (encrypted: %s)', (encrypted) => {
  const { body, signature } = signDelivery(payload, 'key', { encrypted });
  expect(body.includes('task-1')).toBe(!encrypted);
  expect(verifySignature(signature, Buffer.from(body), [signingKeyOf('key')])).toMatchObject({
    verified: true,
  });
  expect(parseDelivery(Buffer.from(body), 'key')).toEqual({ kind: 'terminal', ...payload });
});
