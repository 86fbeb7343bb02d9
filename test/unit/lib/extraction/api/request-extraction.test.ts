import { describe, expect, test } from 'vitest';
import type { ConsentRequest, CredentialsRequest } from '../../../../../lib/extraction/api/parse-request.ts';
import {
  type ExecutionInput,
  type RequestInput,
  requestExtraction,
} from '../../../../../lib/extraction/api/request-extraction.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { ExtractionStore } from '../../../../../lib/extraction/store.ts';
import {
  clock,
  consentId,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryRequestStore } from '../../../../support/stores/memory-request-store.ts';
import type { StoreCall, StoreFaults } from '../../../../support/stores/store-fault.ts';
import { withLostAnswers } from '../../../../support/stores/with-lost-answers.ts';

const asked: CredentialsRequest = {
  method: 'credentials',
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'SENTINEL', password: 'SENTINEL' } },
  actions: [{ id: 'tef' }],
  reference: 'mine',
};
const input: RequestInput = {
  extractionId: id,
  requestedBy: 'arn:aws:iam::111122223333:user/u',
  fingerprint: 'fingerprint-1',
  request: asked,
};

/** What identifies the first request. */
const ids: ExecutionInput = { extractionId: id, requestId: 'request-1' };

const world = (
  setup: {
    readonly record?: Extraction;
    readonly faults?: StoreFaults;
    readonly through?: (store: ExtractionStore) => ExtractionStore;
    readonly startExecution?: () => void;
    readonly sendsWebhooks?: boolean;
  } = {},
) => {
  const store = memoryExtractionStore(setup.faults);
  if (setup.record !== undefined) store.items.set(id, setup.record);
  const requests = memoryRequestStore(setup.faults);
  const { counted, telemetry } = memoryTelemetry();
  let made = 0;
  const events: string[] = [];
  const started: ExecutionInput[] = [];
  const sealed: unknown[] = [];
  const time = clock();
  const deps = {
    extractions: setup.through?.(store) ?? store,
    requests,
    seal: async (ids: ExecutionInput, plaintext: unknown) => {
      events.push(`seal, ${requests.items.size} and ${store.items.size} records`);
      sealed.push([ids, plaintext]);
      return `sealed-${sealed.length}`;
    },
    startExecution: async (input: ExecutionInput) => {
      events.push(`start, ${requests.items.size} and ${store.items.size} records`);
      setup.startExecution?.();
      started.push(input);
    },
    newRequestId: () => {
      made += 1;
      return `request-${made}`;
    },
    sendsWebhooks: setup.sendsWebhooks ?? true,
    now: time.now,
    timings,
    telemetry,
  };
  return {
    request: (changes: Partial<RequestInput> = {}) => requestExtraction({ ...input, ...changes }, deps),
    requests: requests.items,
    counted,
    record: () => store.items.get(id),
    store,
    events,
    started,
    sealed,
    time,
  };
};

describe('a new request', () => {
  test('is sealed, recorded and started, in this order', async () => {
    const { request, events } = world();
    expect(await request()).toMatchObject({ kind: 'accepted' });
    expect(events).toEqual(['seal, 0 and 0 records', 'start, 1 and 1 records']);
  });

  test('is recorded with its deadline and dueAt', async () => {
    const { request, record } = world();
    const outcome = await request();
    expect(record()).toEqual({
      schemaVersion: 1,
      extractionId: id,
      method: 'credentials',
      entity: 'bank',
      actions: [{ id: 'tef' }],
      reference: 'mine',
      requestedBy: input.requestedBy,
      requestedAt: iso(0),
      requestId: 'request-1',
      deadlineAt: iso(7_200),
      status: 'REQUESTED',
      fingerprint: 'fingerprint-1',
      dueShard: expect.any(Number),
      dueAt: iso(900),
    });
    expect(outcome).toEqual({ kind: 'accepted', record: record() });
  });

  test('seals the caller’s session token, and records nothing of it', async () => {
    const { request, record, started, sealed } = world();
    const credentials = { mode: 'encrypted', value: 'SENTINEL' } as const;
    await request({ request: { ...asked, credentials, sessionToken: 'SENTINEL' } });
    expect(sealed).toEqual([[ids, { credentials, sessionToken: 'SENTINEL' }]]);
    expect(JSON.stringify([record(), started])).not.toContain('SENTINEL');
  });

  test('whose put was repeated by the SDK is still new', async () => {
    const { request, started } = world({ through: withLostAnswers });
    expect(await request()).toMatchObject({ kind: 'accepted' });
    expect(started).toHaveLength(1);
  });
});

describe('what is sealed', () => {
  test('is stored under the requestId, until no start can need it', async () => {
    const { request, requests } = world();
    await request();
    const { startWindow, startTimeout } = timings;
    const expiresAt = new Date(iso(startWindow + startTimeout + 3_600)).getTime() / 1_000;
    expect([...requests.values()]).toEqual([{ ...ids, sealed: 'sealed-1', expiresAt }]);
  });

  test('that cannot be removed is counted, and the request is answered', async () => {
    const before = ({ method }: StoreCall): void => {
      if (method === 'remove') throw new Error('throttled');
    };
    const { request, counted } = world({ faults: { before } });
    await request();
    expect(await request()).toMatchObject({ kind: 'replayed' });
    expect(counted).toEqual(['RequestDataNotRemoved']);
  });
});

describe('a new request by consent', () => {
  const byConsent: ConsentRequest = {
    method: 'consent',
    product: 'movement',
    consentId,
    variant: 'v2',
    target: 'SENTINEL',
    reference: 'mine',
  };

  test('is recorded with its product, consent and variant', async () => {
    const { request, record } = world();
    await request({ request: byConsent });
    expect(record()).toMatchObject({
      method: 'consent',
      product: 'movement',
      consentId,
      variant: 'v2',
      reference: 'mine',
      status: 'REQUESTED',
      deadlineAt: iso(7_200),
    });
    expect(record()).not.toHaveProperty('entity');
    expect(record()).not.toHaveProperty('actions');
  });
});

test('a record keeps that the provider sends no webhooks, of a v2 task only', async () => {
  const [credentials, consent] = [world({ sendsWebhooks: false }), world({ sendsWebhooks: false })];
  await credentials.request();
  expect(credentials.record()).toMatchObject({ withoutWebhook: true });
  await consent.request({
    request: { method: 'consent', product: 'movement', consentId, variant: 'v1', target: 'SENTINEL' },
  });
  expect(consent.record()).not.toHaveProperty('withoutWebhook');
});

describe('a repeated request under the same key', () => {
  test('starts nothing after the start window', async () => {
    const { request, started, time } = world();
    await request();
    time.set(900);
    expect(await request()).toMatchObject({ kind: 'replayed' });
    expect(started).toHaveLength(1);
  });

  test.each(['STARTING', 'RUNNING', 'COMPLETED', 'NOT_STARTED', 'UNCONFIRMED'] as const)(
    'is not started again when it is %s',
    async (status) => {
      const record = extractionIn(status, { fingerprint: 'fingerprint-1', requestId: 'request-0' });
      const { request, started, time } = world({ record });
      time.advance(1);
      expect(await request()).toEqual({ kind: 'replayed', record });
      expect(started).toEqual([]);
    },
  );
});
