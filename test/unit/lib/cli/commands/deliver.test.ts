import { describe, expect, test } from 'vitest';
import { deliveryEffect } from '../../../../../lib/cli/delivery-effect.ts';
import { signDelivery } from '../../../../../lib/cli/sign-delivery.ts';
import { parseDelivery } from '../../../../../lib/webhook/parse-delivery.ts';
import { signingKeyOf } from '../../../../../lib/webhook/signing-key.ts';
import { verifySignature } from '../../../../../lib/webhook/verify-signature.ts';
import { allStatuses, extractionIn } from '../../../../support/extraction-fixtures.ts';

const payload = { taskId: 'task-1', taskStatus: 'PARTIAL' };

describe('a test delivery', () => {
  test.each([false, true])('is one that the webhook takes (encrypted: %s)', (encrypted) => {
    const { body, signature } = signDelivery(payload, 'key', { encrypted });
    expect(body.includes('task-1')).toBe(!encrypted);
    expect(verifySignature(signature, Buffer.from(body), [signingKeyOf('key')])).toMatchObject({
      verified: true,
    });
    expect(parseDelivery(Buffer.from(body), 'key')).toEqual({ kind: 'terminal', ...payload });
  });

  test('needs leave where it would settle an extraction, and only there', () => {
    const needing = allStatuses.filter((status) => {
      const record = extractionIn(status);
      return deliveryEffect({ kind: 'extraction', record }).kind === 'settles';
    });
    expect(needing).toEqual(['RUNNING', 'TIMED_OUT']);
  });

  test('for a task that nobody knows would be an orphan', () => {
    expect(deliveryEffect({ kind: 'nobody' })).toEqual({ kind: 'orphan' });
  });
});
