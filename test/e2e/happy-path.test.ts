import { describe, expect, test } from 'vitest';
import { DEMO_BUSINESS_ID } from '../../sandbox/outcome-table.ts';
import {
  deliveriesEnded,
  extract,
  movement,
  passwordSentinel,
  provider,
  requestFor,
  uniqueUsername,
  view,
} from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, statusesOf } from './support/records.ts';
import { settledByWebhook } from './support/running-extractions.ts';

describe('an extraction settled by its webhook', () => {
  test('goes from REQUESTED to COMPLETED in one state transition', async () => {
    const { extractionId } = await settledByWebhook({}, { reference: 'invoice 42' });

    const record = await closed(extractionId);
    expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook', reference: 'invoice 42' });
    expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);

    const history = await historyOf(extractionId);
    expect(history.at(-1)?.type).toBe('ExecutionSucceeded');
    expect(transitionsIn(history)).toBe(1);
    expect(JSON.stringify(history)).not.toContain(passwordSentinel);
  });

  test('is settled by an encrypted delivery too', async () => {
    const { extractionId, taskId } = await settledByWebhook({ webhook: { mode: 'encrypted' } });

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
    await deliveriesEnded(taskId);
    // Only the last: on a busy machine the provider may have timed out earlier ones.
    const { deliveries } = await provider.task(taskId);
    expect(deliveries.at(-1)).toMatchObject({ mode: 'encrypted', status: 204 });
  });

  test('returns a presigned URL of the results, which are stored as the provider sent them', async () => {
    const username = uniqueUsername();
    const extractionId = await extract(requestFor(username));
    const record = await closed(extractionId);

    const { results } = await view(extractionId);
    const stored = await fetch(results?.url ?? '');
    expect(stored.status).toBe(200);
    const text = await stored.text();
    expect(Buffer.byteLength(text)).toBe(record.results?.bytes);
    expect(JSON.parse(text)).toMatchObject({
      taskStatus: 'COMPLETED',
      results: { username, actions: [{ id: 'product-balance' }, { id: 'movement' }] },
    });
    expect(record.results?.key).toBe(`${extractionId}/${record.results?.sha256}.json`);
  });
});

describe('the final status of the provider', () => {
  const completed = { status: 'COMPLETED' };
  const failed = (errorCode: string) => ({ status: 'FAILED', errorCode });

  test.for([
    ['completed', 'COMPLETED', [{ id: 'movement', ...completed }]],
    [
      'partial',
      'PARTIAL',
      [
        { id: 'product-balance', ...completed },
        { id: 'movement', ...failed('TIMEOUT_ERROR') },
      ],
    ],
    [
      'failed',
      'FAILED',
      [
        { id: 'product-balance', ...failed('ACTION_ERROR') },
        { id: 'movement', ...failed('ENTITY_API_ERROR') },
      ],
    ],
    ['unknown-error', 'FAILED', [{ id: 'movement', ...failed('UNKNOWN_ERROR') }]],
    ['credentials-wrong', 'CREDENTIALS_WRONG', undefined],
    ['credentials-locked', 'CREDENTIALS_LOCKED', undefined],
  ] as const)(
    'for the credentials %s is recorded: %s, with its action results',
    async ([username, status, actionResults]) => {
      const extractionId = await extract(
        requestFor(username, {
          credentials: {
            mode: 'raw',
            value: { username, businessId: DEMO_BUSINESS_ID, password: passwordSentinel },
          },
          actions: actionResults?.length === 1 ? [movement] : [{ id: 'product-balance' }, movement],
        }),
      );

      const record = await closed(extractionId);
      // start-task settles it if the delivery came before the task was linked.
      expect(record).toMatchObject({ status, settledBy: expect.stringMatching(/^(webhook|start)$/) });
      expect(record.collectedAt).toBeDefined();
      expect(record.actionResults).toEqual(actionResults);
      expect(record.results === undefined).toBe(actionResults === undefined);
    },
  );
});
