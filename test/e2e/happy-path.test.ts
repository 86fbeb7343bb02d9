import { describe, expect, test } from 'vitest';
import { DEMO_BUSINESS_ID } from '../sandbox/outcomes.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import {
  deliveriesEnded,
  extract,
  movement,
  passwordSentinel,
  plannedUsername,
  provider,
  requestFor,
  uniqueUsername,
  view,
} from './support/extractions.ts';
import { closed, statusesOf } from './support/records.ts';

describe('an extraction settled by its webhook', () => {
  test('goes from REQUESTED to COMPLETED in two state transitions', async () => {
    const extractionId = await extract(requestFor(uniqueUsername(), { reference: 'invoice 42' }));

    const record = await closed(extractionId);
    expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook', reference: 'invoice 42' });
    expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);

    const history = await historyOf(extractionId);
    expect(history.at(-1)?.type).toBe('ExecutionSucceeded');
    expect(transitionsIn(history)).toBe(2);
    expect(JSON.stringify(history)).not.toContain(passwordSentinel);
  });

  test('is settled the same by an encrypted delivery', async () => {
    const username = await plannedUsername({ webhook: { mode: 'encrypted' } });
    const extractionId = await extract(requestFor(username));

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
    const [{ taskId = '' } = {}] = await provider.tasks({ username });
    await deliveriesEnded(taskId);
    // The last: on a busy machine the first may have been abandoned by the provider before it was answered.
    const { deliveries } = await provider.task(taskId);
    expect(deliveries.at(-1)).toMatchObject({ mode: 'encrypted', status: 204 });
  });

  test('hands out the results as the provider gave them, through a presigned URL', async () => {
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

describe('each outcome of the provider', () => {
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
    ['request-block-error', 'FAILED', [{ id: 'movement', ...failed('REQUEST_BLOCK_ERROR') }]],
    ['credentials-wrong', 'CREDENTIALS_WRONG', undefined],
    ['credentials-locked', 'CREDENTIALS_LOCKED', undefined],
  ] as const)(
    'of the credentials %s is recorded as %s with its action results',
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
      expect(record).toMatchObject({ status, settledBy: 'webhook' });
      expect(record.collectedAt).toBeDefined();
      expect(record.actionResults).toEqual(actionResults);
      expect(record.results === undefined).toBe(actionResults === undefined);
    },
  );
});
