import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authorized, consentRequest } from '../support/consent-extractions.ts';
import { historyOf } from '../support/execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  possiblyAcceptedStartsOf,
  requestFor,
  view,
} from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { closed } from '../support/records.ts';
import { endWebhookWait } from '../support/running.ts';
import { injectedFaults, type Service, tries } from './injected-faults.ts';

type Call = {
  readonly call: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** By consent the machine polls at once. By credentials the test ends its wait for the webhook. */
  readonly method: 'consent' | 'credentials';
};

const byConsent = { method: 'consent' } as const;
const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const calls: readonly Call[] = [
  { call: 'reading the record', ...read, ...byConsent },
  {
    call: 'reading the row of its task',
    ...read,
    contains: ['"taskId"'],
    method: 'credentials',
  },
  {
    call: 'decrypting the sealed target',
    service: 'kms',
    operation: 'TrentService.Decrypt',
    writes: false,
    ...byConsent,
  },
  {
    call: 'reading the API key',
    service: 'secretsManager',
    operation: 'secretsmanager.GetSecretValue',
    writes: false,
    ...byConsent,
  },
  {
    call: 'settling the extraction',
    ...update,
    contains: ['":status":{"S":"COMPLETED"}'],
    ...byConsent,
  },
  { call: 'storing the results', service: 's3', operation: 'PUT /', writes: true, ...byConsent },
  { call: 'closing the record', ...update, contains: ['":collectedAt"'], ...byConsent },
];

const prepare = async (method: Call['method']) => {
  if (method === 'credentials') {
    const username = await plannedUsername({ webhook: { enabled: false } });
    return { username, body: requestFor(username) };
  }
  const mine = await authorized();
  return { username: mine.target, body: consentRequest(mine) };
};

describe.each(calls)('reconcile-extraction, $call', (call) => {
  test.for(injectedFaults(call, tries.patient))(
    '$title: the extraction is settled, collected and closed',
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
      // After the execution: a function whose last write is not answered tries again after the record is closed.
      await historyOf(extractionId);
      expect(fault.wasInjected()).toBe(true);
      expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
      const { results } = await view(extractionId);
      const stored = await fetch(results?.url ?? '');
      expect([stored.status, (await stored.bytes()).length]).toEqual([200, record.results?.bytes]);
      expect(await possiblyAcceptedStartsOf(username)).toHaveLength(1);
    },
  );
});
