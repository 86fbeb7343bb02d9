import { marshall } from '@aws-sdk/util-dynamodb';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parseBreakerState } from '#lib/breaker/stored-breaker.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { publicView } from '#lib/extraction/api/public-view.ts';
import { plusSeconds } from '#lib/extraction/deadlines.ts';
import { type ReconcileEvent, reconcile, reconcileInvokerOf } from '#lib/extraction/reconcile/reconcile.ts';
import { type ReconcileMessage, reconcileMessageSchema } from '#lib/extraction/reconcile-message.ts';
import {
  type Extraction,
  isUnderstood,
  openStatuses,
  ownOutcomes,
  terminalStatuses,
} from '#lib/extraction/record.ts';
import { saysRefused } from '#lib/extraction/refused-credentials.ts';
import { decodeSealed, type SealedRequestData } from '#lib/extraction/sealed-request-data.ts';
import { type StartInput, startForMachine } from '#lib/extraction/start/start.ts';
import type { RefusalMark, StoredRequest, Task } from '#lib/extraction/store.ts';
import { parsePauses, pausesItem } from '#lib/shared-item/operator-settings.ts';
import { type DeliveryEvent, receiveDelivery } from '#lib/webhook/receive-delivery.ts';
import { signingKeyOf } from '#lib/webhook/verify-signature.ts';
import { schemaBase } from '../../tools/contracts/contract-schemas.ts';
import type { Schema } from '../../tools/contracts/json-schema-type.ts';
import { allRecords } from '../enumeration/records.ts';
import { timings } from '../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../support/data/memory-telemetry.ts';
import { extractionInMemory, startDeps } from '../support/stores/extraction-in-memory.ts';
import { storedRequest } from '../support/stores/memory-request-store.ts';
import { memoryStartLine } from '../support/stores/memory-start-line.ts';
import { schemaViolations } from '../unit/docs/contract-schemas.ts';
import { documentedRecords } from '../unit/docs/documented-records.ts';
import { versionThatBreaks } from './breaks.ts';
import { isBefore, readRelease, releases, version } from './release.ts';

const [last = ''] = releases.slice(-1);

/**
 * What a deployment of the release wrote on the emulator, one of each form; secrets are synthetic. Held starts and pauses did not occur
 * there, nor did an execution show its payloads: those are as the release's code writes them.
 */
const items = <Item>(name: string): readonly Item[] =>
  readRelease(last, `items/${name}.json`) as readonly Item[];

const records = items<Extraction>('records');
const tasks = items<Task>('tasks');
const requests = items<StoredRequest>('requests');
const titled = <Item extends { readonly status: string; readonly method: string }>(list: readonly Item[]) =>
  list.map((one, index) => [`${index} ${one.method} ${one.status}`, one] as const);

/** The stores of today, with what the release left of one extraction. */
const left = (record: Extraction) => {
  const { deps, seen } = extractionInMemory(undefined);
  seen.extractions.items.set(record.extractionId, record);
  for (const task of tasks)
    if (task.extractionId === record.extractionId) seen.tasks.items.set(task.taskId, task);
  const { requestId, extractionId } = record;
  const stored = requests.find((one) => one.requestId === requestId);
  seen.requests.items.set(requestId, stored ?? storedRequest(extractionId, requestId));
  return {
    counted: seen.counted,
    now: () => seen.extractions.items.get(record.extractionId),
    deps: { ...deps, send: async () => undefined },
  };
};

const results = Buffer.from('{"taskStatus":"COMPLETED","results":{"actions":[]}}');

/** Reconciles what is left of an extraction, as a message of the queue. The provider's task is COMPLETED. */
const advance = async (world: ReturnType<typeof left>, extractionId: string, at: Date) =>
  reconcile(
    extractionId,
    { kind: 'queue', cause: 'sweep', isSlow: true },
    {
      ...world.deps,
      startLine: memoryStartLine(),
      wake: async () => undefined,
      isPaused: async () => false,
      sendSlow: async () => undefined,
      storeResults: async () => ({ bucket: 'b', key: 'k', bytes: results.length, sha256: 's' }),
      now: () => at,
      readCallFor: async () => ({
        tokens: { current: async () => 'token', drop: () => undefined },
        get: async () => ({
          reading: {
            kind: 'ended',
            taskStatus: 'COMPLETED',
            reason: undefined,
            actionResults: undefined,
            expected: true,
            results: 'all',
          },
          bytes: results,
        }),
      }),
    },
  );

test('there is a record of every status, of both methods', () => {
  expect(new Set(records.map(({ status }) => status))).toEqual(
    new Set([...openStatuses, ...terminalStatuses, ...ownOutcomes]),
  );
  expect(new Set(records.map(({ method }) => method))).toEqual(new Set(['credentials', 'consent']));
});

describe.each(titled(records))('the record %s', (_title, record) => {
  test('is read, shown and decoded as before', () => {
    expect(isUnderstood(record)).toBe(true);
    expect(schemaViolations('extraction.json', record)).toEqual([]);
    expect(publicView(record)).toMatchObject({ extractionId: record.extractionId, status: record.status });
    const NewImage = marshall(record);
    const event = decodeExtractionEvent({
      eventID: 'e',
      eventName: 'INSERT',
      eventSource: 'aws:dynamodb',
      dynamodb: {
        Keys: marshall({ extractionId: record.extractionId }),
        NewImage,
        SequenceNumber: '1',
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
    } as never);
    expect(event).toMatchObject({ extractionId: record.extractionId, extraction: { status: record.status } });
  });

  test('ends, and an outcome that was final stays', async () => {
    const world = left(record);
    // Later than the start window. Each further reconcile is when the one before asked for it.
    for (
      let at = plusSeconds(record.requestedAt, timings.deadline + 1), rounds = 0;
      rounds < 5;
      rounds += 1
    ) {
      await advance(world, record.extractionId, new Date(at));
      at = world.now()?.dueAt ?? at;
    }
    expect(world.now()?.dueShard).toBeUndefined();
    expect(world.counted).not.toContain('UnknownRecord');
    const { status, isFinal } = record;
    if (isFinal) expect(world.now()).toMatchObject({ status, isFinal });
    else expect(openStatuses).not.toContain(world.now()?.status);
  });
});

test.each(
  tasks
    .filter(({ taskStatus, extractionId }) => taskStatus && extractionId)
    .map((task) => [task.taskStatus, task] as const),
)(
  'a delivery that the release left in Tasks settles its extraction: %s',
  async (taskStatus, { extractionId, taskId }) => {
    const record = records.find((one) => one.status === 'RUNNING' && one.method === 'credentials');
    if (record === undefined || extractionId === undefined) throw new Error('There is no running record.');
    const world = left({ ...record, extractionId, taskId });
    await advance(world, extractionId, new Date(plusSeconds(record.requestedAt, 30)));
    expect(world.now()).toMatchObject({ status: taskStatus });
  },
);

type Inputs = {
  readonly method: string;
  readonly input: object;
  readonly start: StartInput;
  readonly reconcile?: ReconcileEvent;
};

describe.each(items<Inputs>('inputs').map((one) => [one.method, one] as const))(
  'an execution by %s',
  (method, one) => {
    test('starts the record that it was started for', async () => {
      const requested = records.find(
        (record) =>
          record.status === 'REQUESTED' && record.method === method && record.attemptId === undefined,
      );
      if (requested === undefined) throw new Error('There is no such record.');
      const { extractionId, requestId } = one.start;
      const world = left({ ...requested, extractionId, requestId });
      await startForMachine(one.start, {
        ...startDeps,
        ...world.deps,
        callFor: async () => ({
          tokens: { current: async () => 'session', drop: () => undefined },
          renewable: true,
          post: async () => 'task-1',
        }),
        now: () => new Date(plusSeconds(requested.requestedAt, 5)),
        fail: async () => undefined,
      });
      expect(world.now()).toMatchObject({ status: 'RUNNING', taskId: 'task-1' });
    });

    test('invokes reconcile-extraction as the machine', () => {
      if (one.reconcile !== undefined)
        expect(reconcileInvokerOf(one.reconcile)).toMatchObject({ kind: 'machine' });
    });
  },
);

test.each(items<ReconcileMessage>('messages').map((one) => [one.cause, one] as const))(
  'a message is read: %s',
  (_cause, message) => {
    expect(v.parse(reconcileMessageSchema(), message)).toEqual(message);
  },
);

type Delivery = { readonly signingKey: string; readonly event: DeliveryEvent; readonly taskStatus: string };

test.each(items<Delivery>('deliveries').map((one) => [one.taskStatus, one] as const))(
  'a delivery is verified and recorded: %s',
  async (taskStatus, { signingKey, event }) => {
    const recorded: unknown[] = [];
    const { body, isBase64Encoded, headers } = event;
    await receiveDelivery({ body, isBase64Encoded, signature: headers['x-service-signature'] }, {
      keys: { current: async () => [signingKeyOf(signingKey)], refreshed: async () => [] },
      record: async (delivery: unknown) => {
        recorded.push(delivery);
        return 'settled';
      },
      explainMismatch: () => undefined,
      telemetry: memoryTelemetry().telemetry,
    } as never);
    expect(recorded).toMatchObject([{ taskStatus }]);
  },
);

test('what is sealed of a request, refusals, breakers and pauses are read', () => {
  for (const { text, means } of items<{ readonly text: string; readonly means: SealedRequestData }>('sealed'))
    expect(decodeSealed(Buffer.from(text))).toEqual(means);
  for (const mark of items<RefusalMark>('refusals'))
    expect(saysRefused(mark, new Date((mark.expiresAt - 1) * 1_000))).toBe(mark.isRefused);
  for (const { name, state } of items<{ readonly name: string; readonly state: unknown }>('breakers')) {
    const parse = name === pausesItem ? parsePauses : parseBreakerState;
    expect(parse(state, Date.parse('2026-12-31T00:00:00Z'))).toMatchObject({ isDamaged: false });
  }
});

describe.skipIf(!isBefore(version, versionThatBreaks(last)))(
  'the schemas of the release accept what today writes',
  () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(Object.values(readRelease(last, 'schemas.json') as Readonly<Record<string, Schema>>));
    const violations = (reference: string, value: unknown): readonly unknown[] => {
      const validate = ajv.getSchema(`${schemaBase}${reference}`);
      if (validate === undefined) throw new Error(`The release has no ${reference}.`);
      return validate(value) ? [] : (validate.errors ?? []);
    };

    test('as records', async () => {
      for (const record of await allRecords()) expect(violations('extraction.json', record)).toEqual([]);
    });

    test('as stream records', () => {
      for (const record of documentedRecords().values())
        expect(violations('stream-record.json', record)).toEqual([]);
    });

    test('and refuse a record without its status', () => {
      const [{ status: _status, ...without } = { status: '' }] = records;
      expect(violations('extraction.json', without)).not.toEqual([]);
    });
  },
);
