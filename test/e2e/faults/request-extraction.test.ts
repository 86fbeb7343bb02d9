import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type Body,
  extract,
  extractionIdForKey,
  post,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { closed, readRecord } from '../support/records.ts';
import { mishapsOf, type Service, tries } from './injected-faults.ts';

type Call = {
  readonly what: string;
  readonly service: Service;
  readonly operation: string;
  readonly writes: boolean;
  /** Whether the record is there where the call was cut off before and after it took effect. */
  readonly recorded: readonly [before: boolean, after: boolean];
};

const seal = { service: 'kms', operation: 'TrentService.Encrypt', writes: false } as const;

const calls: readonly Call[] = [
  { what: 'as it seals the credentials', ...seal, recorded: [false, false] },
  {
    what: 'as it records the request',
    service: 'dynamodb',
    operation: 'DynamoDB_20120810.PutItem',
    writes: true,
    recorded: [false, true],
  },
  {
    what: 'as it starts the execution',
    service: 'stepFunctions',
    operation: 'AWSStepFunctions.StartExecution',
    writes: true,
    recorded: [true, true],
  },
];

const isRecorded = async (extractionId: string): Promise<boolean> =>
  (await readRecord(extractionId)) !== undefined;

const duringRequest = (idempotencyKey: string) => [idempotencyKey, '"POST /extractions"'];

const endsWell = async (extractionId: string, username: string): Promise<void> => {
  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(username)).toHaveLength(1);
};

describe.each(calls)('request-extraction, $what,', ({ service, operation, writes, recorded }) => {
  test.for(mishapsOf({ service, writes }, tries.prompt))(
    '$title: the same request again is taken, and one task is started',
    async ({ kind, when, times = 1, effect }) => {
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const during = duringRequest(idempotencyKey);
      const fault = await planFault({ operation, during, when, times, effect });

      const answer = await post(requestFor(username), { idempotencyKey });
      expect(fault.wasMet()).toBe(true);
      if (kind !== 'passed') {
        expect(answer.status).toBeGreaterThanOrEqual(500);
        if (kind === 'failed') expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(await isRecorded(extractionIdForKey(idempotencyKey))).toBe(
          recorded[when === 'before' ? 0 : 1],
        );
      }
      await extract(requestFor(username), { idempotencyKey });
      await endsWell(extractionIdForKey(idempotencyKey), username);
    },
  );
});

describe('request-extraction, as it reads the fingerprint key,', () => {
  const service = 'secretsManager';
  const operation = 'secretsmanager.GetSecretValue';

  /** A process reads it once; so processes of the function are killed until one that is new meets the fault. */
  const untilMet = async (body: Body, idempotencyKey: string, wasMet: () => boolean): Promise<void> => {
    const kills = await planFault({
      operation: seal.operation,
      during: duringRequest(idempotencyKey),
      when: 'before',
      times: 100,
      effect: { kind: 'exit' },
    });
    for (let posts = 0; posts < 20 && !wasMet(); posts += 1) await post(body, { idempotencyKey });
    await kills.cancel();
  };

  test.for(mishapsOf({ service, writes: false }, tries.prompt))(
    '$title: nothing is recorded, and the same request again is taken',
    async ({ when, times = 1, effect }) => {
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const during = duringRequest(idempotencyKey);
      const fault = await planFault({ operation, during, when, times, effect });
      await untilMet(requestFor(username), idempotencyKey, fault.wasMet);
      expect(fault.wasMet()).toBe(true);

      const extractionId = await extract(requestFor(username), { idempotencyKey });
      await endsWell(extractionId, username);
    },
  );
});
