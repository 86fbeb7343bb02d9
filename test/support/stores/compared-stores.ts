import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { expect } from 'vitest';
import { dynamoBreakerStore, dynamoPermitStore } from '#lib/aws/dynamo-breaker-store.ts';
import { dynamoErasureStore } from '#lib/aws/dynamo-erasure-store.ts';
import { dynamoExtractionStore, dynamoNameIndex } from '#lib/aws/dynamo-extraction-store.ts';
import { dynamoRefusedCredentialsStore } from '#lib/aws/dynamo-refused-credentials-store.ts';
import { dynamoRepeatCounter } from '#lib/aws/dynamo-repeat-counter.ts';
import { dynamoRequestStore } from '#lib/aws/dynamo-request-store.ts';
import { dynamoStartLine } from '#lib/aws/dynamo-start-line.ts';
import { dynamoTaskStore } from '#lib/aws/dynamo-task-store.ts';
import { removalsOnAws } from '#lib/aws/removals-on-aws.ts';
import { type BreakerState, noTrouble } from '#lib/breaker/breaker-state.ts';
import type { DueRecord, Guard, Update } from '#lib/extraction/change.ts';
import type { Removals } from '#lib/extraction/erase/erase-extraction.ts';
import type { ErasureStore } from '#lib/extraction/erase/erasure.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type {
  ExtractionStore,
  NameIndex,
  NameQuery,
  RefusedCredentialsStore,
  RepeatCounter,
  RequestStore,
  TaskStore,
} from '#lib/extraction/store.ts';
import { leaseDue } from '#lib/extraction/transitions.ts';
import type { PermitStore } from '#lib/rate-limit/permit.ts';
import {
  countsKeptSeconds,
  countsKey,
  type StartLineStore,
  type StoredEntry,
} from '#lib/rate-limit/start-line.ts';
import { type Pauses, pausesItem } from '#lib/shared-item/operator-settings.ts';
import type { SharedItemStore } from '#lib/shared-item/shared-item.ts';
import { extractionMachineDefinition } from '../../../infra/extraction-machine-definition.ts';
import { readConfig } from '../../../infra/settings/config.ts';
import { exampleSettings } from '../../../infra/settings/settings.ts';
import { allStatuses, at, consentExtraction, extraction, iso } from '../data/extraction-fixtures.ts';
import { memoryBreakerStore, permitStoreOver } from './memory-breaker-store.ts';
import { memoryErasureStore } from './memory-erasure-store.ts';
import { InvalidChange, memoryExtractionStore, memoryNameIndex } from './memory-extraction-store.ts';
import { memoryRefusedCredentialsStore } from './memory-refused-credentials-store.ts';
import { memoryRepeatCounter } from './memory-repeat-counter.ts';
import { memoryRequestStore } from './memory-request-store.ts';
import { startLineItems, startLineOver } from './memory-start-line.ts';
import { erasableTaskStore } from './memory-task-store.ts';

/** One call of a store. `text` shows it in a failure. */
type Call<Store> = { readonly text: string; readonly run: (store: Store) => Promise<unknown> };

/** A store on DynamoDB, and the one in memory that the simulation trusts. */
type Compared<Store> = {
  /** The table, by its id in the construct Storage. */
  readonly table: string;
  /** What `lib/aws` exports of it. */
  readonly stores: readonly { readonly name: string }[];
  readonly key: string;
  readonly onDynamo: (client: DynamoDBClient, table: string) => Store;
  readonly inMemory: () => Store & { readonly items: ReadonlyMap<string, object> };
  readonly calls: fc.Arbitrary<Call<Store>>;
};

/** Forgets the type of the store. */
const compared = <Store extends object>({ calls, ...rest }: Compared<Store>): Compared<object> => ({
  ...rest,
  calls: calls.map(({ text, run }) => ({ text, run: (store) => run(store as Store) })),
});

const callOf = <Store, Args extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (store: Store, ...args: Args) => Promise<unknown>,
): fc.Arbitrary<Call<Store>> =>
  args.map((values) => ({
    text: `${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`,
    run: (store) => run(store, ...values),
  }));

type Method = (...args: readonly unknown[]) => Promise<unknown>;
type Drawn<Args extends readonly unknown[]> = { [Index in keyof Args]: fc.Arbitrary<Args[Index]> };

/** Returns what makes calls of the store's own methods. */
const methodsOf =
  <Store extends { readonly [Name in keyof Store]: (...args: never) => Promise<unknown> }>() =>
  <Name extends keyof Store & string>(name: Name, ...args: Drawn<Parameters<Store[Name]>>) =>
    callOf(name, fc.tuple(...(args as readonly fc.Arbitrary<unknown>[])), (store: Store, ...values) =>
      (store[name] as unknown as Method)(...values),
    );

/** Some of the fields, and rarely none. */
const someOf = <Fields extends object>(
  fields: { [Name in keyof Fields]-?: fc.Arbitrary<NonNullable<Fields[Name]>> },
  most: number,
): fc.Arbitrary<Partial<Fields>> => {
  const names = Object.keys(fields) as (keyof Fields & string)[];
  const chosen = fc.subarray(names, { minLength: 1, maxLength: most });
  return fc
    .tuple(
      fc.record(fields),
      fc.oneof({ weight: 29, arbitrary: chosen }, { weight: 1, arbitrary: fc.constant([]) }),
    )
    .map(([all, some]) => Object.fromEntries(some.map((name) => [name, all[name]])) as Partial<Fields>);
};

const extractionId = fc.constantFrom('extraction-1', 'extraction-2', 'Extraction-3');
const requestId = fc.constantFrom('request-1', 'request-2');
const attemptId = fc.constantFrom('attempt-1', 'attempt-2');
const taskId = fc.constantFrom('task-1', 'task-2');
const time = fc.integer({ min: 1, max: 3 }).map(iso);
const shard = fc.constantFrom(0, 1);
const status = fc.constantFrom(...allStatuses);
const name = fc.constantFrom('order 7', 'Bestellung ä');
const requestedBy = fc.constantFrom('caller-1', 'caller-2');

const attributes = {
  status,
  attemptId,
  taskId,
  dueAt: time,
  dueShard: shard,
  notBefore: time,
  settledAt: time,
  settledBy: fc.constantFrom('webhook', 'start', 'reconcile'),
  isFinal: fc.constant(true),
  reason: fc.constantFrom('http-400', 'deadline-passed'),
  collectedAt: time,
  collectionError: fc.constantFrom('no-results'),
  expiresAt: fc.integer({ min: 0, max: 2 ** 40 }),
  results: fc.record({
    bucket: fc.constant('results'),
    key: fc.string({ maxLength: 3 }),
    bytes: fc.nat(),
    sha256: fc.constant('0'.repeat(64)),
  }),
  actionResults: fc.array(
    fc.record(
      { id: fc.constant('movement'), status: fc.string({ maxLength: 3 }), errorCode: fc.constant('TIMEOUT') },
      { requiredKeys: ['id', 'status'] },
    ),
    { maxLength: 2 },
  ),
};

const guard: fc.Arbitrary<Guard> = someOf<Guard>(
  {
    status: fc.subarray([...allStatuses], { minLength: 6 }),
    requestId,
    attemptId,
    withoutAttempt: fc.constant(true),
    taskId,
    open: fc.constant(true),
    uncollected: fc.constant(true),
    notErasing: fc.constant(true),
    dueAt: time,
  },
  2,
);

/** Mostly a valid change. Sometimes it sets nothing, has no condition, or sets and removes one attribute. */
const change: fc.Arbitrary<Update> = fc
  .record({
    extractionId,
    when: guard,
    set: someOf(attributes, 6),
    remove: fc.subarray(Object.keys(attributes) as Update['remove'][number][], { maxLength: 6 }),
    overlaps: fc.integer({ min: 1, max: 20 }).map((number) => number === 1),
  })
  .map(({ overlaps, remove, ...rest }) => ({
    ...(rest as Omit<Update, 'remove'>),
    remove: overlaps ? remove : remove.filter((name) => !(name in rest.set)),
  }));

const record: fc.Arbitrary<Extraction> = fc
  .record({
    request: fc.constantFrom(extraction(), consentExtraction()),
    fields: someOf(attributes, 6),
    identity: fc.record({ extractionId, requestId }),
    due: fc.record({ dueShard: shard, dueAt: time }),
    found: fc.record(
      { reference: name, batch: name, requestedBy, requestedAt: time },
      { requiredKeys: ['requestedBy', 'requestedAt'] },
    ),
  })
  .map(
    ({ request, fields, identity, due, found }) =>
      ({ ...request, ...fields, ...due, ...identity, ...found }) as Extraction,
  );

/**
 * Walks through the index as the sweep does, page by page, and leases what it finds if `leases`. Records of one `dueAt` have
 * no order in an index, so the answer has the order of the times, and the records sorted.
 */
const walk = async (store: ExtractionStore, of: number, until: Date, limit: number, leases: boolean) => {
  const found: DueRecord[] = [];
  for (;;) {
    const page = await store.due(of, until, limit, found.at(-1));
    found.push(...page);
    if (leases) for (const one of page) await store.apply(leaseDue({ found: one, dueAt: iso(9) }));
    if (page.length < limit) break;
  }
  return {
    times: found.map(({ dueAt }) => dueAt),
    records: found.map((one) => `${one.extractionId} ${one.dueAt}`).toSorted(),
  };
};

/** Entries of one time have no order in an index, so the answer has the times of those after the first, and all entries sorted. */
const findAll = async (index: NameIndex, query: NameQuery) => {
  const { entries, last } = await index.find(query);
  const rest = await index.find({ ...query, after: entries[0] });
  return {
    last,
    times: rest.entries.map(({ requestedBy, requestedAt }) => `${requestedBy} ${requestedAt}`),
    found: entries.map((one) => `${one.requestedAt} ${one.extractionId}`).toSorted(),
  };
};

const extractionCall = methodsOf<ExtractionStore & NameIndex>();

const extractions = compared<ExtractionStore & NameIndex>({
  table: 'Extractions',
  stores: [dynamoExtractionStore, dynamoNameIndex],
  key: 'extractionId',
  onDynamo: (client, table) => ({
    ...dynamoExtractionStore(client, table),
    ...dynamoNameIndex(client, table),
  }),
  inMemory: () => {
    const store = memoryExtractionStore();
    return { ...store, ...memoryNameIndex(store.items) };
  },
  calls: fc.oneof(
    { weight: 3, arbitrary: extractionCall('create', record) },
    { weight: 1, arbitrary: extractionCall('get', extractionId) },
    { weight: 8, arbitrary: extractionCall('apply', change) },
    {
      weight: 2,
      arbitrary: callOf(
        'findByName',
        fc.tuple(
          fc.record({
            by: fc.constantFrom('reference', 'batch'),
            name,
            requestedBy: fc.option(requestedBy, { nil: undefined }),
            limit: fc.constant(1_000),
          }),
        ),
        (store: NameIndex, query) => findAll(store, query),
      ),
    },
    {
      weight: 2,
      arbitrary: callOf(
        'walk',
        fc.tuple(shard, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }), fc.boolean()),
        (store: ExtractionStore, of, seconds, limit, leases) => walk(store, of, at(seconds), limit, leases),
      ),
    },
  ),
});

const text = fc.string({ minLength: 1, maxLength: 3 });
const credentialsMac = fc.constantFrom('mac-1', 'mac-2');

type ErasableTasks = TaskStore & Pick<Removals, 'eraseTask'>;

const taskCall = methodsOf<ErasableTasks>();

const tasks = compared<ErasableTasks>({
  table: 'Tasks',
  stores: [dynamoTaskStore],
  key: 'taskId',
  onDynamo: (dynamo, table) => {
    const now = () => new Date(0);
    const tables = { extractions: '', tasks: table, refusals: '' };
    const { eraseTask } = removalsOnAws({ dynamo, s3: new S3Client({}), tables, bucket: '', now });
    return { ...dynamoTaskStore(dynamo, table, now), eraseTask };
  },
  inMemory: erasableTaskStore,
  calls: fc.oneof(
    taskCall(
      'link',
      fc.record(
        {
          taskId,
          extractionId,
          callbackToken: text,
          callbackAttempt: fc.integer({ min: 0, max: 11 }),
          credentialsMac,
          isConfirmed: fc.constant(true as const),
          afterMark: time,
        },
        { requiredKeys: ['taskId', 'extractionId', 'callbackToken', 'callbackAttempt'] },
      ),
    ),
    taskCall('recordStatus', fc.record({ taskId, taskStatus: text, notifiedAt: time })),
    taskCall('notice', taskId, text, time),
    taskCall('setMarked', taskId),
    taskCall('adopt', taskId, extractionId),
    taskCall('eraseTask', taskId, extractionId),
    taskCall('get', taskId),
  ),
});

const epochSeconds = fc.integer({ min: 0, max: 3 });

const requestCall = methodsOf<RequestStore>();

const requests = compared<RequestStore>({
  table: 'Requests',
  stores: [dynamoRequestStore],
  key: 'requestId',
  onDynamo: dynamoRequestStore,
  inMemory: memoryRequestStore,
  calls: fc.oneof(
    requestCall(
      'put',
      fc.record(
        {
          requestId,
          extractionId,
          sealed: fc.constantFrom('one', 'another'),
          expiresAt: epochSeconds,
          taskId,
        },
        { requiredKeys: ['requestId', 'extractionId', 'sealed', 'expiresAt'] },
      ),
    ),
    requestCall('get', requestId),
    requestCall(
      'remove',
      requestId,
      fc.oneof(
        fc.record({ taskId: fc.option(taskId, { nil: undefined }) }),
        fc.constant('any task' as const),
      ),
    ),
    requestCall('extend', requestId, epochSeconds),
  ),
});

const refusalCall = methodsOf<RefusedCredentialsStore>();
const isRefused = fc.boolean();
const extractionIds = extractionId.map((id) => [id]);

const repeatCall = methodsOf<RepeatCounter>();

/** Seconds of the same hour, and of the next ones. */
const now = fc.constantFrom(0, 1, 3_599, 3_600, 7_300).map((seconds) => new Date(1_000 * seconds));

const repeats = compared<RepeatCounter>({
  table: 'Refusals',
  stores: [dynamoRepeatCounter],
  key: 'credentialsMac',
  onDynamo: dynamoRepeatCounter,
  inMemory: memoryRepeatCounter,
  calls: fc.oneof(
    { weight: 3, arbitrary: repeatCall('count', fc.constant('extraction-1'), now) },
    { weight: 2, arbitrary: repeatCall('compared', fc.constant('extraction-1'), fc.boolean()) },
  ),
});

const refusals = compared<RefusedCredentialsStore>({
  table: 'Refusals',
  stores: [dynamoRefusedCredentialsStore],
  key: 'credentialsMac',
  onDynamo: dynamoRefusedCredentialsStore,
  inMemory: memoryRefusedCredentialsStore,
  calls: fc.oneof(
    refusalCall('get', credentialsMac),
    refusalCall(
      'put',
      fc.record({ credentialsMac, extractionIds, noticedAt: time, isRefused, expiresAt: epochSeconds }),
    ),
  ),
});

const breakerCall = methodsOf<SharedItemStore & PermitStore>();
const breakerName = fc.constantFrom('arn:aws:iam::111122223333:role/caller-1', pausesItem);
const version = fc.constantFrom('one', 'two', 'three');
const state = fc.constantFrom<BreakerState | Pauses>(
  noTrouble,
  {
    groups: [
      {
        name: 'bank',
        failed: [['extraction-1', 1]],
        opened: { since: 1, pause: 30, turn: { at: 4, holder: 'process' } },
      },
    ],
    opened: { since: 2, failing: { at: 4 }, others: { at: 3 }, taken: 1, cause: 'http-503' },
  },
  { starts: { since: 5, reason: 'why' } },
);

const milliseconds = fc.integer({ min: 0, max: 4 });
// DynamoDB refuses a range that ends before it begins.
const early = fc.integer({ min: 0, max: 2 });
const late = fc.integer({ min: 2, max: 4 });

const breakers = compared<SharedItemStore & PermitStore>({
  table: 'Breakers',
  stores: [dynamoBreakerStore, dynamoPermitStore],
  key: 'name',
  onDynamo: (client, table) => ({
    ...dynamoBreakerStore(client, table),
    ...dynamoPermitStore(client, table),
  }),
  inMemory: () => {
    const store = memoryBreakerStore();
    return { ...store, ...permitStoreOver(store.items, async (_call, effect) => effect()) };
  },
  calls: fc.oneof(
    breakerCall(
      'update',
      fc.oneof(
        fc.record({ kind: fc.constant('add'), ms: milliseconds, from: early, to: late }),
        fc.record(
          { kind: fc.constant('reset'), next: milliseconds, from: early, to: late },
          { requiredKeys: ['kind', 'next', 'from'] },
        ),
      ),
    ),
    breakerCall('read', breakerName, fc.constantFrom('eventually', 'strongly')),
    breakerCall(
      'replace',
      breakerName,
      fc.option(version, { nil: undefined }),
      fc.record({ state, version }),
    ),
  ),
});

/** What the state InLine writes, with its expressions evaluated. */
const writeOfInLine = (
  TableName: string,
  extractionId: string,
  requestId: string,
  token: string,
): UpdateItemCommand => {
  const { Arguments } = extractionMachineDefinition(readConfig(exampleSettings), {
    startTask: 'start',
    reconcile: 'reconcile',
    startLine: TableName,
  }).States.InLine;
  const evaluated = JSON.stringify(Arguments)
    .replace('{% $states.input.extractionId %}', extractionId)
    .replace('{% $states.input.requestId %}', requestId)
    .replace('{% $states.context.Task.Token %}', token);
  return new UpdateItemCommand(JSON.parse(evaluated) as UpdateItemCommandInput);
};

/** The store, and what the state InLine does. */
type Line = StartLineStore & {
  enter(extractionId: string, requestId: string, token: string): Promise<boolean>;
};

const lineCall = methodsOf<Line>();
const token = fc.constantFrom('token-1', 'token-2');

const startLine = compared<Line>({
  table: 'StartLine',
  stores: [dynamoStartLine],
  key: 'extractionId',
  onDynamo: (client, table) => ({
    ...dynamoStartLine(client, table),
    enter: (...of) =>
      client.send(writeOfInLine(table, ...of)).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ConditionalCheckFailedException) return false;
          throw error;
        },
      ),
  }),
  inMemory: () => {
    const stored = startLineItems();
    const { items, counts, enter } = stored;
    /** The state writes this attribute too, and no function reads it. */
    const inIndex = (item: StoredEntry) => ({ ...item, ...(item.callbackToken && { line: 'line' }) });
    const store = startLineOver(stored, async (_call, effect) => effect());
    return {
      ...store,
      find: async (id) => {
        const found = await store.find(id);
        return found && inIndex(found);
      },
      enter: async (...of) => enter(...of),
      get items() {
        const ofSeconds = [...counts].map(([second, calls]) => {
          const extractionId = countsKey(second);
          const counted = [...calls].flatMap(([key, of]) =>
            Object.entries(of).flatMap(([kind, number]) =>
              number === 0 ? [] : [[`${kind}/${key}`, number]],
            ),
          );
          const item = { extractionId, expiresAt: second + countsKeptSeconds };
          return [extractionId, { ...item, ...Object.fromEntries(counted) }] as const;
        });
        return new Map<string, object>([
          ...[...items].map(([id, item]) => [id, inIndex(item)] as const),
          ...ofSeconds,
        ]);
      },
    };
  },
  calls: fc.oneof(
    lineCall(
      'write',
      fc
        .record(
          {
            extractionId,
            requestId,
            attempt: fc.integer({ min: 0, max: 3 }),
            slot: fc.constantFrom(
              'caller#interactive#bank#1#extraction-1',
              'caller#background#bank#1#extraction-1',
            ),
            waitingSince: time,
            waitedMs: fc.nat(),
            expiresAt: epochSeconds,
          },
          { requiredKeys: ['extractionId', 'requestId', 'attempt', 'slot', 'waitedMs', 'expiresAt'] },
        )
        // Without fast-check's prototype, as DynamoDB has none.
        .map((entry) => ({ ...entry })),
    ),
    lineCall('find', extractionId),
    callOf(
      'next',
      fc.tuple(fc.constantFrom('', 'caller#background#bank#1#extraction-1'), fc.integer({ min: 1, max: 3 })),
      // Entries of one place have no order in an index.
      async (store: Line, after, limit) => (await store.next(after, limit)).map(({ slot }) => slot),
    ),
    lineCall('remove', extractionId, requestId),
    lineCall('enter', extractionId, requestId, token),
    lineCall('leave', fc.record({ extractionId, requestId, slot: text, callbackToken: token }), text),
    lineCall(
      'withdraw',
      fc
        .record(
          { extractionId, requestId, callbackToken: token },
          { requiredKeys: ['extractionId', 'requestId'] },
        )
        .map((found) => found as StoredEntry),
    ),
    lineCall(
      'count',
      epochSeconds,
      fc.record({
        kind: fc.constantFrom('accepted', 'refused', 'failed'),
        key: fc.constantFrom('caller', 'another'),
        times: fc.constant(1),
        retryAt: fc.constant(7),
      }),
    ),
    lineCall('counts', fc.constant(0), epochSeconds),
  ),
});

const erasureCall = methodsOf<ErasureStore>();
const erasureId = fc.constantFrom('erasure-1', 'erasure-2', 'erasure-3');
const scopeMac = fc.constantFrom('scope-1', 'scope-2');
const ofErasure = fc.record({ erasureId, extractionId, requestId });
const erasure = fc
  .record(
    { erasureId, askedBy: requestedBy, askedAt: time, reference: name, expiresAt: epochSeconds },
    { requiredKeys: ['erasureId', 'askedBy', 'askedAt', 'expiresAt'] },
  )
  .map((one) => ({ ...one }));

const erasures = compared<ErasureStore>({
  table: 'Erasures',
  stores: [dynamoErasureStore],
  key: 'erasureId,item',
  onDynamo: dynamoErasureStore,
  inMemory: () => {
    const { items, ...store } = memoryErasureStore();
    const last = new Map<string, number | undefined>();
    return {
      ...store,
      createFor: async (scope, one, replaced) => {
        const isCreated = await store.createFor(scope, one, replaced);
        if (isCreated) last.set(scope, one.expiresAt);
        return isCreated;
      },
      get: async (id) => {
        const found = await store.get(id);
        // DynamoDB returns the sort key too.
        return found && ({ ...found, item: 'erasure' } as typeof found);
      },
      get items() {
        const keyed = [
          ...[...items.erasures.values()].map((one) => ({ ...one, item: 'erasure' })),
          ...[...items.tombstones.values()].map((one) => ({
            ...one,
            item: `${one.extractionId}/${one.requestId}`,
          })),
          ...[...items.scopes].map(([mac, id]) => ({
            ...{ erasureId: `scope/${mac}`, item: 'scope', last: id, expiresAt: last.get(mac) },
          })),
        ];
        return new Map(keyed.map((one) => [`${one.erasureId} ${one.item}`, one]));
      },
    };
  },
  calls: fc.oneof(
    erasureCall('create', erasure),
    erasureCall('lastOf', scopeMac),
    erasureCall('createFor', scopeMac, erasure, fc.option(erasureId, { nil: undefined })),
    erasureCall('get', erasureId),
    erasureCall('finishSearch', erasureId, time, epochSeconds),
    erasureCall(
      'bury',
      ofErasure.map((one) => ({ ...one })),
    ),
    erasureCall('setRemoving', ofErasure, time, epochSeconds),
    erasureCall('setErased', ofErasure, time, epochSeconds),
  ),
});

export const comparedStores = [
  extractions,
  tasks,
  requests,
  refusals,
  repeats,
  breakers,
  startLine,
  erasures,
];

/** What a call returned. Both kinds of store refuse an invalid change, each by its own error. */
const outcomeOf = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return { returned: await answer };
  } catch (error) {
    const { name } = error as Error;
    if (error instanceof InvalidChange || name === 'ValidationException') return 'refused';
    if (name === 'ConditionalCheckFailedException') return name;
    throw error;
  }
};

/** Makes the calls of both stores, and expects the same answer to each. */
export const compareCalls = async (real: object, memory: object, calls: readonly Call<object>[]) => {
  for (const [index, { text, run }] of calls.entries()) {
    const expected = await outcomeOf(run(real));
    expect(await outcomeOf(run(memory)), `${index}: ${text}`).toStrictEqual(expected);
  }
};
