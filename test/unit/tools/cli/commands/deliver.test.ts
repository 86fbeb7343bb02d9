import { expect, test } from 'vitest';
import {
  type DeliverOptions,
  describeAnswer,
  requireConfirmation,
} from '../../../../../tools/cli/commands/deliver.ts';
import type { PredictedEffect } from '../../../../../tools/cli/operate/predict-delivery.ts';
import { CliError } from '../../../../../tools/cli/terminal/errors.ts';
import { closedExtraction, extractionIn, id } from '../../../../support/extraction-fixtures.ts';

const settles: PredictedEffect = { kind: 'settles', record: extractionIn('RUNNING') };
const orphan: PredictedEffect = { kind: 'orphan' };

/** The error without confirmation, or undefined. `typed`: whether the prompt is confirmed. */
const confirm = async (
  effect: PredictedEffect,
  stage: string,
  options: Partial<DeliverOptions> = {},
  typed = false,
): Promise<string | undefined> => {
  try {
    await requireConfirmation(effect, { status: 'FAILED', ...options }, stage, {
      confirm: async () => typed,
    });
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
};

test('a delivery that changes nothing needs no confirmation', async () => {
  expect(await confirm({ kind: 'harmless' }, 'prod')).toBeUndefined();
});

test('an orphan delivery needs --orphan', async () => {
  expect(await confirm(orphan, 'local', { yes: true }, true)).toContain('Use --orphan to send it');
  expect(await confirm(orphan, 'prod', { orphan: true })).toBeUndefined();
});

test('in the stage local --yes or the prompt confirms that a delivery settles an extraction', async () => {
  expect(await confirm(settles, 'local', { force: true })).toBe(
    `${id} is RUNNING. You, not the provider, would settle it as FAILED. Nothing was sent. Use --yes to send it.`,
  );
  expect(await confirm(settles, 'local', { yes: true })).toBeUndefined();
  expect(await confirm(settles, 'local', {}, true)).toBeUndefined();
});

test('in any other stage only --force confirms it', async () => {
  expect(await confirm(settles, 'prod', { yes: true }, true)).toContain('Use --force to send it');
  expect(await confirm(settles, 'prod', { force: true })).toBeUndefined();
});

test.each([
  [204, 204, '204: accepted; the extraction is COMPLETED (settled by webhook), closed.'],
  [401, 401, '401: refused, as the signature matches no signing key of the service.'],
  [
    204,
    401,
    '204: accepted; the extraction is COMPLETED (settled by webhook), closed. The webhook should answer 401 to a wrong signature.',
  ],
  [
    401,
    204,
    '401: refused, as the signature matches no signing key of the service. The webhook should answer 204 to a right signature.',
  ],
])('the answer %d where %d is expected is a sentence', (answer, expected, sentence) => {
  const record = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(
    describeAnswer({ answer, expected, status: 'COMPLETED' }, record).replace(id, 'the extraction'),
  ).toBe(sentence);
});

test('a delivery that contradicts the recorded outcome is not called accepted', () => {
  const record = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' });
  const sentence = describeAnswer({ answer: 204, expected: 204, status: 'FAILED' }, record);
  expect(sentence).toBe(
    `204: verified, and changed nothing: FAILED contradicts the recorded outcome, which stays. It is counted as StatusDisagreement; ${id} is COMPLETED (settled by webhook), closed.`,
  );
  const unconfirmed = describeAnswer(
    { answer: 204, expected: 204, status: 'FAILED' },
    extractionIn('UNCONFIRMED'),
  );
  expect(unconfirmed).toContain('verified, and changed nothing: no webhook settles');
});

test('an accepted delivery without an extraction is described as an orphan', () => {
  expect(describeAnswer({ answer: 204, expected: 204, status: 'FAILED' }, undefined)).toBe(
    '204: accepted, and kept as an orphan delivery.',
  );
});
