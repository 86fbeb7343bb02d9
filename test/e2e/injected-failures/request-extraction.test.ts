/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  extract,
  extractionIdForKey,
  postOnce,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from '../support/call-extractions.ts';
import { closed, readRecord } from '../support/records.ts';
import { requestsOf } from '../support/request-items.ts';
import { type AwsCall, awsCalls, injectedFailures, tries } from './failures-of-aws-calls.ts';
import { planFailure, planKills, untilInjected } from './plan-function-faults.ts';

type Call = AwsCall & {
  readonly call: string;
  /** Whether the record exists when the call failed before, and after, it took effect. */
  readonly recorded: readonly [before: boolean, after: boolean];
  /** Only the first call of a process, which caches the answer. */
  readonly inNewProcess?: true;
};

const { encrypt, putItem, deleteItem } = awsCalls;
const never = { recorded: [false, false] } as const;

const calls: readonly Call[] = [
  { call: 'reading the fingerprint key', ...awsCalls.readSecret, ...never, inNewProcess: true },
  { call: 'encrypting the credentials', ...encrypt, ...never },
  { call: 'storing what is sealed', ...putItem, contains: ['"sealed"'], ...never },
  { call: 'recording the request', ...putItem, contains: ['"fingerprint"'], recorded: [false, true] },
  { call: 'starting the execution', ...awsCalls.startExecution, recorded: [true, true] },
];

const duringRequest = (idempotencyKey: string) => [idempotencyKey, '"POST /extractions"'];

const expectOneTask = async (extractionId: string, username: string): Promise<void> => {
  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(username)).toHaveLength(1);
};

describe.each(calls)('request-extraction, $call', (call) => {
  test.for(injectedFailures(call, tries.intake))(
    '$title: the repeated request is accepted, and one task is started',
    async (failure) => {
      const { kind, when } = failure;
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const during = duringRequest(idempotencyKey);
      const fault = await planFailure(call, failure, during);
      const kills = call.inNewProcess && (await planKills({ ...encrypt, during }));

      const answer = await untilInjected(fault, () => postOnce(requestFor(username), { idempotencyKey }));
      await kills?.cancel();
      if (kind !== 'once' || call.inNewProcess) {
        expect(answer.status).toBeGreaterThanOrEqual(500);
        if (kind === 'always') expect(answer.headers.get('content-type')).toBe('application/problem+json');
        const record = await readRecord(extractionIdForKey(idempotencyKey));
        expect(record !== undefined).toBe(call.recorded[when === 'before' ? 0 : 1]);
      }
      await extract(requestFor(username), { idempotencyKey });
      await expectOneTask(extractionIdForKey(idempotencyKey), username);
    },
  );
});

describe('request-extraction, removing the item of a repeated request', () => {
  test.for(injectedFailures(deleteItem, tries.intake))(
    '$title: the request is answered as a replay',
    async (failure) => {
      const username = uniqueUsername();
      const idempotencyKey = randomUUID();
      const extractionId = await extract(requestFor(username), { idempotencyKey });
      await expectOneTask(extractionId, username);
      const fault = await planFailure(deleteItem, failure, duringRequest(idempotencyKey));

      const answer = await untilInjected(fault, () => postOnce(requestFor(username), { idempotencyKey }));
      if (failure.kind !== 'killed') expect(answer.status).toBe(200);
      expect(await extract(requestFor(username), { idempotencyKey })).toBe(extractionId);
      expect(await startCallsOf(username)).toHaveLength(1);
      // What a removal left expires.
      if (failure.kind === 'once') expect(await requestsOf(extractionId)).toEqual([]);
    },
  );
});
