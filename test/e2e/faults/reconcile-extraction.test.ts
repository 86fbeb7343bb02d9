import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authorized, consentRequest } from '../support/consent-extractions.ts';
import { historyOf } from '../support/execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  requestFor,
  takenStartsOf,
  view,
} from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { closed } from '../support/records.ts';
import { endWebhookWait } from '../support/running.ts';
import { mishapsOf, type Service, tries } from './injected-faults.ts';

type Call = {
  readonly what: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** By consent the machine polls at once; else the test ends its wait for a webhook. */
  readonly method: 'consent' | 'credentials';
};

const byConsent = { method: 'consent' } as const;
const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const calls: readonly Call[] = [
  { what: 'as it reads the record', ...read, ...byConsent },
  {
    what: 'as it looks for what a webhook left',
    ...read,
    contains: ['"taskId"'],
    method: 'credentials',
  },
  {
    what: 'as it opens the seal',
    service: 'kms',
    operation: 'TrentService.Decrypt',
    writes: false,
    ...byConsent,
  },
  {
    what: 'as it reads the API key',
    service: 'secretsManager',
    operation: 'secretsmanager.GetSecretValue',
    writes: false,
    ...byConsent,
  },
  {
    what: 'as it settles the extraction',
    ...update,
    contains: ['":status":{"S":"COMPLETED"}'],
    ...byConsent,
  },
  { what: 'as it stores the results', service: 's3', operation: 'PUT /', writes: true, ...byConsent },
  { what: 'as it closes the record', ...update, contains: ['":collectedAt"'], ...byConsent },
];

const prepare = async (method: Call['method']) => {
  if (method === 'credentials') {
    const username = await plannedUsername({ webhook: { enabled: false } });
    return { username, body: requestFor(username) };
  }
  const mine = await authorized();
  return { username: mine.target, body: consentRequest(mine) };
};

describe.each(calls)('reconcile-extraction, $what,', (call) => {
  test.for(mishapsOf(call, tries.patient))(
    '$title: settled, collected and closed',
    async ({ when, times = 1, effect }) => {
      const { username, body } = await prepare(call.method);
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const { operation, contains = [] } = call;
      const during = [extractionId, '"trigger":"machine"'];
      const fault = await planFault({ operation, contains, during, when, times, effect });
      await extract(body, { idempotencyKey });
      if (call.method === 'credentials') await endWebhookWait(extractionId);

      const record = await closed(extractionId);
      // The record is closed before a function whose last write was not answered has used up its tries.
      await historyOf(extractionId);
      expect(fault.wasMet()).toBe(true);
      expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
      const { results } = await view(extractionId);
      const stored = await fetch(results?.url ?? '');
      expect([stored.status, (await stored.bytes()).length]).toEqual([200, record.results?.bytes]);
      expect(await takenStartsOf(username)).toHaveLength(1);
    },
  );
});
