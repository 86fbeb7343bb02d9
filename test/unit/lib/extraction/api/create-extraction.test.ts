import { describe, expect, test } from 'vitest';
import { createExtraction, type ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import type { ConsentRequest, CredentialsRequest, ValidRequest } from '#lib/extraction/api/parse-request.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { ExtractionStore } from '#lib/extraction/store.ts';
import {
  at,
  consentId,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { memoryRepeatCounter } from '../../../../support/stores/memory-repeat-counter.ts';
import type { StoreCall, StoreFaults } from '../../../../support/stores/store-fault.ts';

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

type Setup = {
  readonly record?: Extraction;
  readonly faults?: StoreFaults;
  readonly through?: (store: ExtractionStore) => ExtractionStore;
  readonly sendsWebhooks?: boolean;
};

const world = ({ record, faults, through = (store) => store, sendsWebhooks = true }: Setup = {}) => {
  const { deps, seen } = extractionInMemory(record, { now: 0, faults });
  const [requests, records] = [seen.requests.items, seen.extractions.items];
  requests.clear();
  const events: string[] = [];
  const started: ExecutionInput[] = [];
  const sealed: unknown[] = [];
  const more = {
    extractions: through(deps.extractions),
    repeats: memoryRepeatCounter(),
    seal: async ({ extractionId, requestId }: Extraction, plaintext: unknown) => {
      events.push(`seal, ${requests.size} and ${records.size} records`);
      sealed.push([{ extractionId, requestId }, plaintext]);
      return `sealed-${sealed.length}`;
    },
    startExecution: async (input: ExecutionInput) => {
      events.push(`start, ${requests.size} and ${records.size} records`);
      started.push(input);
    },
    newRequestId: () => `request-${sealed.length + 1}`,
    sendsWebhooks,
  };
  const request = (request: ValidRequest = asked) =>
    createExtraction({ ...input, request }, { ...deps, ...more });
  return { ...seen, request, events, started, sealed };
};

describe('a new request', () => {
  test('is sealed, recorded with its deadline and dueAt, and started, in this order', async () => {
    const { request, record, requests, events } = world();
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
    // Until no start can need it.
    const expiresAt =
      at(timings.maxWait + timings.startWindow + timings.startTimeout + 3_600).getTime() / 1_000;
    expect([...requests.items.values()]).toEqual([{ ...ids, sealed: 'sealed-1', expiresAt }]);
  });

  test('keeps its batch, and its priority if that is not the default', async () => {
    const { request, record } = world();
    await request({ ...byConsent, batch: 'morning', priority: 'background' });
    expect(record()).toMatchObject({ batch: 'morning', priority: 'background' });
  });

  test('seals the caller’s session token, and records nothing of it', async () => {
    const { request, record, started, sealed } = world();
    const credentials = { mode: 'encrypted', value: 'SENTINEL' } as const;
    await request({ ...asked, credentials, sessionToken: 'SENTINEL' });
    expect(sealed).toEqual([[ids, { credentials, sessionToken: 'SENTINEL' }]]);
    expect(JSON.stringify([record(), started])).not.toContain('SENTINEL');
  });
});

test('the target of a consent is kept for the last read in grace, and for collecting what that finds', async () => {
  const { request, requests } = world();
  await request(byConsent);
  const [{ expiresAt = 0 } = {}] = requests.items.values();
  const { deadline, grace, collectFor } = timings;
  expect(expiresAt * 1_000).toBeGreaterThan(at(deadline + grace + collectFor).getTime());
});

test('what is sealed and cannot be removed is counted, and the request is answered', async () => {
  const before = ({ method }: StoreCall): void => {
    if (method === 'remove') throw new Error('throttled');
  };
  const { request, counted } = world({ faults: { before } });
  await request();
  expect(await request()).toMatchObject({ kind: 'replayed' });
  expect(counted).toEqual(['RequestDataNotRemoved']);
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
