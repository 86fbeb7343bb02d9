import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type Body,
  extract,
  extractionIdForKey,
  postOnce,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from '../support/call-extractions.ts';
import { closed, readRecord } from '../support/records.ts';
import { requestsOf } from '../support/request-items.ts';
import { injectedFailures, type Service, tries } from './injected-failures.ts';
import { type PlannedFault, planFault, planKills, untilInjected } from './plan-function-faults.ts';

type Call = {
  readonly call: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** Whether the record exists when the call failed before, and after, it took effect. */
  readonly recorded: readonly [before: boolean, after: boolean];
};

const seal = { service: 'kms', operation: 'TrentService.Encrypt', writes: false } as const;

const put = { service: 'dynamodb', operation: 'DynamoDB_20120810.PutItem', writes: true } as const;

const calls: readonly Call[] = [
  { call: 'encrypting the credentials', ...seal, recorded: [false, false] },
  { call: 'storing what is sealed', ...put, contains: ['"sealed"'], recorded: [false, false] },
  { call: 'recording the request', ...put, contains: ['"fingerprint"'], recorded: [false, true] },
  {
    call: 'starting the execution',
    service: 'stepFunctions',
    operation: 'AWSStepFunctions.StartExecution',
    writes: true,
    recorded: [true, true],
  },
];

const isRecorded = async (extractionId: string): Promise<boolean> =>
  (await readRecord(extractionId)) !== undefined;

const duringRequest = (idempotencyKey: string) => [idempotencyKey, '"POST /extractions"'];

const expectOneTask = async (extractionId: string, username: string): Promise<void> => {
  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(username)).toHaveLength(1);
};

describe.each(calls)(
  'request-extraction, $call',
  ({ service, operation, contains = [], writes, recorded }) => {
    test.for(injectedFailures({ service, writes }, tries.intake))(
      '$title: the repeated request is accepted, and one task is started',
      async ({ kind, when, times = 1, effect }) => {
        const username = uniqueUsername();
        const idempotencyKey = randomUUID();
        const during = duringRequest(idempotencyKey);
        const fault = await planFault({ operation, contains, during, when, times, effect });

        const answer = await untilInjected(fault, () => postOnce(requestFor(username), { idempotencyKey }));
        if (kind !== 'once') {
          expect(answer.status).toBeGreaterThanOrEqual(500);
          if (kind === 'always') expect(answer.headers.get('content-type')).toBe('application/problem+json');
          expect(await isRecorded(extractionIdForKey(idempotencyKey))).toBe(
            recorded[when === 'before' ? 0 : 1],
          );
        }
        await extract(requestFor(username), { idempotencyKey });
        await expectOneTask(extractionIdForKey(idempotencyKey), username);
      },
    );
  },
);

describe('request-extraction, removing the item of a repeated request', () => {
  const operation = 'DynamoDB_20120810.DeleteItem';

  test.for(injectedFailures({ service: 'dynamodb', writes: true }, tries.removing))(
    '$title: the request is answered as a replay',
    async ({ kind, when, times = 1, effect }) => {
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const extractionId = await extract(requestFor(username), { idempotencyKey });
      await expectOneTask(extractionId, username);
      const during = duringRequest(idempotencyKey);
      const fault = await planFault({ operation, during, when, times, effect });

      const answer = await untilInjected(fault, () => postOnce(requestFor(username), { idempotencyKey }));
      if (kind !== 'killed') expect(answer.status).toBe(200);
      expect(await extract(requestFor(username), { idempotencyKey })).toBe(extractionId);
      expect(await startCallsOf(username)).toHaveLength(1);
      // What a removal left expires.
      if (kind === 'once') expect(await requestsOf(extractionId)).toEqual([]);
    },
  );
});

describe('request-extraction, reading the fingerprint key', () => {
  const service = 'secretsManager';
  const operation = 'secretsmanager.GetSecretValue';

  /** A process caches it. So each request kills its process, until a new process reads it. */
  const postUntilInjected = async (
    body: Body,
    idempotencyKey: string,
    fault: PlannedFault,
  ): Promise<void> => {
    const kills = await planKills({ operation: seal.operation, during: duringRequest(idempotencyKey) });
    await untilInjected(fault, () => postOnce(body, { idempotencyKey }));
    await kills.cancel();
  };

  test.for(injectedFailures({ service, writes: false }, tries.intake))(
    '$title: the repeated request is accepted, and one task is started',
    async ({ when, times = 1, effect }) => {
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const during = duringRequest(idempotencyKey);
      const fault = await planFault({ operation, during, when, times, effect });
      await postUntilInjected(requestFor(username), idempotencyKey, fault);
      expect(await isRecorded(extractionIdForKey(idempotencyKey))).toBe(false);

      const extractionId = await extract(requestFor(username), { idempotencyKey });
      await expectOneTask(extractionId, username);
    },
  );
});
