import { describe, expect, test, vi } from 'vitest';
import type { ConsentExtraction, ConsentVariant } from '#lib/extraction/record.ts';
import { type StartDeps, start } from '#lib/extraction/start/start.ts';
import { callByConsent } from '#lib/extraction/start/start-call.ts';
import {
  type StartExtractionRequest,
  startExtractionV2,
} from '#lib/provider/extractions/start-extraction.ts';
import {
  InvalidProviderRequest,
  ProviderAmbiguous,
  ProviderExtractionFailed,
  ProviderRefused,
} from '#lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import { consentExtraction, consentId, consentIn, id } from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory, startDeps } from '../../../../support/stores/extraction-in-memory.ts';
import { storedRequest } from '../../../../support/stores/memory-request-store.ts';
import type { StoreCall, StoreFaults } from '../../../../support/stores/store-fault.ts';

test.each(['v1', 'v2'] as const)('of %s sends the recorded request under a Task Token', async (variant) => {
  const record = { variant, product: 'debt', consentId: 'c-1' } as ConsentExtraction;
  const post = vi.fn(async () => 'task-1');
  const call = callByConsent(record, { target: '11111111-1' }, {
    taskTokens: { current: async (of: string) => `token of ${of}` },
    startExtraction: { [variant]: post },
  } as unknown as Parameters<typeof callByConsent>[2]);
  const whenRefused = vi.fn();
  expect(await call.post(await call.tokens.current(), whenRefused)).toBe('task-1');
  const request = { product: 'debt', consentId: 'c-1' };
  expect(post).toHaveBeenCalledWith('token of 11111111-1', request, { whenRefused });
});

const target = '11111111-1';
const anyConsent = {
  id: consentId,
  products: ['movement'],
  tyc: { actualVersion: 1 },
  entity: { id: 'bank', name: 'Bank', type: 'bank' },
  validUntil: '2030-01-01T00:00:00.000Z',
};

type Setup = {
  readonly answers?: readonly (string | Error)[];
  readonly faults?: StoreFaults;
  /** Status and sub-status of the consent. */
  readonly consent?: readonly [string, string] | Error;
  /** How much of the invocation is left after the start call. */
  readonly msLeft?: number;
  /** What happens while the start call is under way. */
  readonly meanwhile?: () => void;
};

const world = (record: ConsentExtraction = consentExtraction(), setup: Setup = {}) => {
  const { deps: stores, seen } = extractionInMemory(record, { faults: setup.faults });
  const posts: { variant: ConsentVariant; token: string; request: StartExtractionRequest }[] = [];
  const sent: unknown[] = [];
  const reads: string[] = [];
  const post = (variant: ConsentVariant) => async (token: string, request: StartExtractionRequest) => {
    posts.push({ variant, token, request });
    expect(seen.record()?.status).toBe('STARTING');
    setup.meanwhile?.();
    const answers = setup.answers ?? ['task-1'];
    const answer = answers[Math.min(posts.length, answers.length) - 1];
    if (typeof answer !== 'string') throw answer;
    return answer;
  };
  const deps: StartDeps = {
    ...startDeps,
    ...stores,
    callFor: async (record) => {
      if (record.method !== 'consent') throw new Error('It is not by consent.');
      return callByConsent(
        record,
        { target },
        {
          taskTokens: { current: async (of) => `token of ${of}`, drop: () => undefined },
          startExtraction: { v1: post('v1'), v2: post('v2') },
          getConsent: async (token, asked) => {
            expect([asked, seen.record()?.status]).toEqual([consentId, 'STARTING']);
            reads.push(token);
            const { consent = ['ACTIVE', 'ACTIVE'] } = setup;
            if (consent instanceof Error) throw consent;
            return { ...anyConsent, status: consent[0], subStatus: consent[1] };
          },
        },
      );
    },
    msLeft: () => (posts.length > 0 ? setup.msLeft : undefined) ?? 60_000,
    maxCallMs: 4_000,
    send: async (message, _caller, delaySeconds) => void sent.push([message, delaySeconds]),
  };
  const input = {
    extractionId: id,
    requestId: 'request-1',
    callbackToken: 'callback',
    callbackAttempt: 0,
    entry: 0,
    isReleased: false,
  };
  return { ...seen, start: () => start(input, deps), posts, reads, sent };
};

const polled = { conclusion: 'queued', record: { status: 'RUNNING' } } as const;

describe('a start that was settled as stale meanwhile', () => {
  /** Another process settles the start, and removes the item of the request. `lost`: the record is lost once the item is put back. */
  const late = (then: 'UNCONFIRMED' | 'lost', failingPuts = 0) => {
    let left = failingPuts;
    const before = ({ method }: StoreCall): void => {
      if (method === 'put' && then === 'lost') made.extractions.items.clear();
      if (method !== 'put' || left === 0) return;
      left -= 1;
      throw new Error('DynamoDB is down.');
    };
    const made = world(undefined, {
      faults: { before },
      meanwhile: () => {
        const { attemptId = '' } = made.record() ?? {};
        made.requests.items.clear();
        made.extractions.items.set(id, consentIn('UNCONFIRMED', { attemptId }));
      },
    });
    return made;
  };

  test.each([
    ['its item is put back, although two puts fail', 2, [{ ...storedRequest(id), taskId: 'task-1' }]],
    ['keeps its taskId although the item cannot be put back', 3, []],
  ])('runs, and %s', async (_what, failingPuts, items) => {
    const { start, record, requests } = late('UNCONFIRMED', failingPuts);
    expect(await start()).toMatchObject(polled);
    expect(record()).toMatchObject({ status: 'RUNNING', taskId: 'task-1' });
    expect([...requests.items.values()]).toEqual(items);
  });

  test('leaves no sealed data if its record is gone', async () => {
    const { start, requests } = late('lost');
    expect(await start()).toMatchObject({ conclusion: 'gone' });
    expect(requests.items.size).toBe(0);
  });
});

const withCode = { errorType: 'CONSENT', errorCode: 'CONSENT_NOT_ACTIVE' };
const explained = { answers: [new ProviderExtractionFailed('', { status: 403, ...withCode })] };
const refused = { answers: [new ProviderRefused('403', 403)] };
const notSent = { answers: [new InvalidProviderRequest('the start', [])] };
const unknown = { answers: [new ProviderAmbiguous('503', { status: 503 })] };
const expired = { consent: ['INACTIVE', 'EXPIRED'] } as const;
const inProgress = { consent: ['IN_PROGRESS', 'IN_PROGRESS'] } as const;
const notFound = new ProviderRefused('404', 404);
const down = new ProviderAmbiguous('503', { status: 503 });

test.each<readonly [string, Setup, string, number]>([
  ['it has expired', { ...refused, ...expired }, 'REJECTED consent-expired renew-consent', 1],
  ['it is not given yet', { ...refused, ...inProgress }, 'REJECTED consent-in-progress renew-consent', 1],
  ['it is active', refused, 'REJECTED http-403 operator', 1],
  ['its state is unknown', { ...refused, consent: ['INACTIVE', 'PAUSED'] }, 'REJECTED http-403 operator', 1],
  ['nobody knows it', { ...refused, consent: notFound }, 'REJECTED consent-unknown renew-consent', 1],
  ['it cannot be read', { ...refused, consent: down }, 'REJECTED http-403 operator', 1],
  [
    '3 s and 1 s are left',
    { ...refused, ...expired, msLeft: 4_000 },
    'REJECTED consent-expired renew-consent',
    1,
  ],
  ['less is left', { ...refused, ...expired, msLeft: 3_999 }, 'REJECTED http-403 operator', 0],
  ['the answer has a code', { ...explained, ...expired }, 'REJECTED consent-expired renew-consent', 1],
  ['it has a code, and it is active', explained, 'REJECTED CONSENT/CONSENT_NOT_ACTIVE operator', 1],
  ['it was not sent', { ...notSent, ...expired }, 'REJECTED invalid-request fix-request', 0],
  ['a task may exist', { ...unknown, ...expired }, 'UNCONFIRMED http-503 ask-provider', 0],
])(
  'after a refusal the consent is read, under the same token, before the outcome is written: %s',
  async (_what, setup, outcome, times) => {
    const { start, record, reads, posts, requests } = world(undefined, setup);
    expect(await start()).toMatchObject({ conclusion: 'closed' });
    const { status, reason, advice } = record() ?? {};
    expect(`${status} ${reason} ${advice}`).toBe(outcome);
    expect(reads).toEqual(Array(times).fill(`token of ${target}`));
    expect([posts.length, requests.items.size]).toEqual([1, 0]);
  },
);

/** Every status that may carry an `errorType`, and what it means for the start (design, section 3). */
const resultOf = (status: number) => {
  if (status === 401) return { conclusion: 'not-yet', error: 'ProviderUnauthorized' };
  if (status === 429) return { conclusion: 'not-yet', error: 'Waits' };
  const isUnknown = status >= 500 || status === 408;
  return { conclusion: 'closed', record: { status: isUnknown ? 'UNCONFIRMED' : 'REJECTED' } };
};
const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);

test.each([
  ['with an errorType', JSON.stringify({ errorType: 'CONSENT' })],
  ['with an errorType and an errorCode', JSON.stringify({ errorType: 'CONSENT', errorCode: 'EXPIRED' })],
  ['with another body', '<html>'],
])(
  'a v2 start answered %s is refused, unconfirmed or tried again by its status alone',
  async (_what, body) => {
    const results = statuses.map(async (status) => {
      const { connection } = answering(() => ({ status, body }));
      const failure: unknown = await startExtractionV2(connection, 'task-token', {
        product: 'movement',
        consentId,
      }).catch((error: unknown) => error);
      if (!(failure instanceof Error)) throw new Error(`${status} counted as an accepted start.`);
      return { status, result: await world(undefined, { answers: [failure] }).start() };
    });
    expect(await Promise.all(results)).toMatchObject(
      statuses.map((status) => ({ status, result: resultOf(status) })),
    );
  },
);
