import { describe, expect, test } from 'vitest';
import type {
  ConsentRequest,
  CredentialsRequest,
  ExtractionRequest,
} from '../../../../../lib/extraction/api/parse-request.ts';
import {
  type ExecutionInput,
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
const byConsent: ConsentRequest = {
  method: 'consent',
  product: 'movement',
  consentId,
  variant: 'v2',
  target: 'SENTINEL',
};
const input = {
  extractionId: id,
  requestedBy: 'arn:aws:iam::111122223333:user/u',
  fingerprint: 'fingerprint-1',
};

/** What identifies the first request. */
const ids: ExecutionInput = { extractionId: id, requestId: 'request-1' };

const world = (
  setup: {
    readonly record?: Extraction;
    readonly faults?: StoreFaults;
    readonly through?: (store: ExtractionStore) => ExtractionStore;
    readonly sendsWebhooks?: boolean;
  } = {},
) => {
  const store = memoryExtractionStore(setup.faults);
  if (setup.record !== undefined) store.items.set(id, setup.record);
  const requests = memoryRequestStore(setup.faults);
  const { counted, telemetry } = memoryTelemetry();
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
      started.push(input);
    },
    newRequestId: () => `request-${sealed.length + 1}`,
    sendsWebhooks: setup.sendsWebhooks ?? true,
    now: time.now,
    timings,
    telemetry,
  };
  return {
    request: (request: ExtractionRequest = asked) => requestExtraction({ ...input, request }, deps),
    requests: requests.items,
    counted,
    record: () => store.items.get(id),
    events,
    started,
    sealed,
    time,
  };
};

describe('a new request', () => {
  test('is sealed, recorded with its deadline and dueAt, and started, in this order', async () => {
    const { request, record, events } = world();
    const outcome = await request();
    expect(events).toEqual(['seal, 0 and 0 records', 'start, 1 and 1 records']);
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
    await request({ ...asked, credentials, sessionToken: 'SENTINEL' });
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

test('a request by consent is recorded with its product, consent and variant, and without its target', async () => {
  const { request, record } = world();
  await request(byConsent);
  const { target, ...shown } = byConsent;
  expect(record()).toMatchObject(shown);
  expect(JSON.stringify(record())).not.toContain(target);
});

test('a record keeps that the provider sends no webhooks, of a v2 task only', async () => {
  const [credentials, consent] = [world({ sendsWebhooks: false }), world({ sendsWebhooks: false })];
  await credentials.request();
  expect(credentials.record()).toMatchObject({ withoutWebhook: true });
  await consent.request(byConsent);
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

  test('starts nothing once the record is UNCONFIRMED, as a restored one is', async () => {
    const record = extractionIn('UNCONFIRMED', { fingerprint: 'fingerprint-1', requestId: 'request-0' });
    const { request, started } = world({ record });
    expect(await request()).toEqual({ kind: 'replayed', record });
    expect(started).toEqual([]);
  });
});
