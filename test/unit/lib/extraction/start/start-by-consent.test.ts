import { describe, expect, test } from 'vitest';
import { defined } from '../../../../../lib/defined.ts';
import { maxDelaySeconds } from '../../../../../lib/extraction/deadlines.ts';
import type { ConsentExtraction, ConsentVariant } from '../../../../../lib/extraction/record.ts';
import { type StartDeps, start } from '../../../../../lib/extraction/start/start.ts';
import { callByConsent } from '../../../../../lib/extraction/start/start-call.ts';
import type { StartExtractionRequest } from '../../../../../lib/provider/extractions/start-extraction.ts';
import { startExtractionV2 } from '../../../../../lib/provider/extractions/start-extraction-v2.ts';
import {
  ProviderAmbiguous,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
} from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import {
  clock,
  consentExtraction,
  consentId,
  consentIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { closedCircuit } from '../../../../support/stores/memory-breaker-store.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryMarks } from '../../../../support/stores/memory-refusal-store.ts';
import { memoryRequestStore, storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { memoryTaskStore } from '../../../../support/stores/memory-task-store.ts';
import type { StoreFaults } from '../../../../support/stores/store-fault.ts';

const target = '11111111-1';
const anyConsent = {
  id: consentId,
  products: ['movement'],
  tyc: { actualVersion: 1 },
  entity: { id: 'bank', name: 'Bank', type: 'bank' },
  validUntil: '2030-01-01T00:00:00.000Z',
};

const world = (
  record: ConsentExtraction = consentExtraction(),
  setup: {
    readonly answers?: readonly (string | Error)[];
    readonly noToken?: Error;
    readonly faults?: StoreFaults;
    /** Status and sub-status of the consent. */
    readonly consent?: readonly [string, string] | Error;
    readonly msLeft?: number;
    /** What happens while the start call is under way. */
    readonly meanwhile?: () => void;
  } = {},
) => {
  const extractions = memoryExtractionStore();
  extractions.items.set(id, record);
  const tasks = memoryTaskStore();
  const requests = memoryRequestStore(setup.faults, storedRequest(id));
  const { counted, telemetry } = memoryTelemetry();
  const posts: { variant: ConsentVariant; token: string; request: StartExtractionRequest }[] = [];
  const sent: unknown[] = [];
  const reads: string[] = [];
  let made = 1;
  const post = (variant: ConsentVariant) => async (token: string, request: StartExtractionRequest) => {
    posts.push({ variant, token, request });
    expect(extractions.items.get(id)?.status).toBe('STARTING');
    setup.meanwhile?.();
    const answers = setup.answers ?? ['task-1'];
    const answer = answers[Math.min(posts.length, answers.length) - 1];
    if (typeof answer !== 'string') throw answer;
    return answer;
  };
  const deps: StartDeps = {
    extractions,
    tasks,
    ...memoryMarks(),
    requests,
    callFor: async (record) => {
      if (record.method !== 'consent') throw new Error('It is not by consent.');
      return callByConsent(
        record,
        { target },
        {
          taskTokens: {
            current: async (of) => {
              if (setup.noToken !== undefined) throw setup.noToken;
              return `${of}/${made}`;
            },
            drop: () => {
              made += 1;
            },
          },
          startExtraction: { v1: post('v1'), v2: post('v2') },
          getConsent: async (token, asked) => {
            expect([asked, extractions.items.get(id)?.status]).toEqual([consentId, 'STARTING']);
            reads.push(token);
            const { consent = ['ACTIVE', 'ACTIVE'] } = setup;
            if (consent instanceof Error) throw consent;
            return { ...anyConsent, status: consent[0], subStatus: consent[1] };
          },
        },
      );
    },
    breaker: closedCircuit,
    whenSlow: () => () => undefined,
    logIn: async () => undefined,
    msLeft: () => setup.msLeft ?? 60_000,
    newAttemptId: () => 'attempt-1',
    now: clock(5).now,
    timings,
    telemetry,
    send: async (message, delaySeconds) => void sent.push([message, delaySeconds]),
  };
  return {
    start: () =>
      start(
        {
          extractionId: id,
          requestId: 'request-1',
          callbackToken: 'callback',
          callbackAttempt: 0,
        },
        deps,
      ),
    record: () => extractions.items.get(id),
    extractions,
    tasks,
    requests,
    posts,
    reads,
    sent,
    counted,
  };
};

test.each(['v1', 'v2'] as const)('of %s sends the recorded request under a Task Token', async (variant) => {
  const { start, posts } = world(consentExtraction({ variant, product: 'debt' }));
  await start();
  expect(posts).toEqual([{ variant, token: `${target}/1`, request: { product: 'debt', consentId } }]);
});

const polled = { as: 'queued', record: { status: 'RUNNING' } } as const;
/** The message for the first poll. */
const poll = { extractionId: id, cause: 'due', dueAt: iso(10) } as const;

test('an accepted start is due for its first poll, and the item of its request is kept for it', async () => {
  const { start, record, tasks, requests, counted, sent } = world();
  expect(await start()).toMatchObject(polled);
  expect(sent).toEqual([[poll, 5]]);
  expect(record()).toMatchObject({ status: 'RUNNING', taskId: 'task-1', startedAt: iso(5), dueAt: iso(10) });
  expect(tasks.items.size).toBe(0);
  expect([...requests.items.values()]).toEqual([storedRequest(id)]);
  expect(counted).toEqual([]);
});

test('a later invocation polls a running task and does not start it again', async () => {
  const { start, posts, sent } = world(consentIn('RUNNING', { dueAt: iso(10) }));
  expect(await start()).toMatchObject(polled);
  expect([posts, sent]).toEqual([[], [[poll, 5]]]);
});

test('a poll that is further ahead than a message can be delayed gets one that is delayed for as long as it can', async () => {
  const dueAt = iso(5 + maxDelaySeconds + 1);
  const { start, sent } = world(consentIn('RUNNING', { dueAt }));
  await start();
  expect(sent).toEqual([[{ ...poll, dueAt }, maxDelaySeconds]]);
});

test('a refused Task Token is dropped, and the call is made once more with another', async () => {
  const { start, posts, record } = world(undefined, { answers: [new ProviderUnauthorized('401'), 'task-1'] });
  expect(await start()).toMatchObject(polled);
  expect(posts.map(({ token }) => token)).toEqual([`${target}/1`, `${target}/2`]);
  expect(record()).toMatchObject({ status: 'RUNNING' });
});

test('without a Task Token nothing is started', async () => {
  const { start, posts, record } = world(undefined, { noToken: new ProviderRefused('403', 403) });
  expect(await start()).toMatchObject({ as: 'not-yet', why: 'ProviderUnauthorized' });
  expect(record()).toEqual(consentExtraction());
  expect(posts).toEqual([]);
});

describe('a start that was settled as stale meanwhile', () => {
  /** Another process settles the start, or the record is lost. The item of the request is removed in both cases. */
  const late = (then: 'UNCONFIRMED' | 'lost', faults?: StoreFaults) => {
    const made = world(undefined, {
      ...defined({ faults }),
      meanwhile: () => {
        const { attemptId = '' } = made.record() ?? {};
        made.requests.items.clear();
        if (then === 'lost') made.extractions.items.clear();
        else made.extractions.items.set(id, consentIn('UNCONFIRMED', { attemptId }));
      },
    });
    return made;
  };
  const failing = (times: number): StoreFaults => {
    let left = times;
    return {
      before: ({ method }) => {
        if (method !== 'put' || left === 0) return;
        left -= 1;
        throw new Error('DynamoDB is down.');
      },
    };
  };

  test.each([0, 2])('runs, and its item is put back, although %i puts fail', async (times) => {
    const { start, record, requests } = late('UNCONFIRMED', failing(times));
    expect(await start()).toMatchObject({ as: 'queued', record: { status: 'RUNNING' } });
    expect(record()).toMatchObject({ status: 'RUNNING', taskId: 'task-1' });
    expect([...requests.items.values()]).toEqual([{ ...storedRequest(id), taskId: 'task-1' }]);
  });

  test('keeps its taskId although the item cannot be put back', async () => {
    const { start, record, requests } = late('UNCONFIRMED', failing(Number.POSITIVE_INFINITY));
    await start();
    expect(record()).toMatchObject({ status: 'RUNNING', taskId: 'task-1' });
    expect(requests.items.size).toBe(0);
  });

  test('leaves no sealed data if its record is gone', async () => {
    const { start, requests } = late('lost');
    expect(await start()).toMatchObject({ as: 'gone' });
    expect(requests.items.size).toBe(0);
  });
});

const explained = (status: number) =>
  new ProviderExtractionFailed('', { status, errorType: 'CONSENT', errorCode: 'CONSENT_NOT_ACTIVE' });

describe('a failure has the same effect as by credentials', () => {
  test.each<readonly [string, Error, string]>([
    ['a refusal of v1', new ProviderRefused('403', 403), 'http-403'],
    ['a refusal of v2 with errorType', explained(403), 'CONSENT/CONSENT_NOT_ACTIVE'],
    ['a refusal of v2 that does not', new ProviderRefused('404', 404), 'http-404'],
  ])('%s is REJECTED', async (_what, failure, reason) => {
    const { start, record, requests, posts, counted } = world(undefined, { answers: [failure] });
    expect(await start()).toMatchObject({ as: 'closed', record: { status: 'REJECTED' } });
    expect(record()).toMatchObject({ status: 'REJECTED', reason, settledBy: 'start' });
    expect(requests.items.size).toBe(0);
    expect(posts).toHaveLength(1);
    expect(counted).toEqual(['Rejected']);
  });
});

describe('after a refusal with a status alone the consent is read, under the same token, before the outcome is written', () => {
  const refused = { answers: [new ProviderRefused('403', 403)] };

  test('a consent that has ended is the reason', async () => {
    const { start, record, reads } = world(undefined, { ...refused, consent: ['INACTIVE', 'EXPIRED'] });
    await start();
    const advice = 'renew-consent';
    expect(record()).toMatchObject({ status: 'REJECTED', reason: 'consent-expired', advice });
    expect(reads).toEqual([`${target}/1`]);
  });

  test.each<[string, object]>([
    ['the consent is active', {}],
    ['it has an unknown state', { consent: ['INACTIVE', 'PAUSED'] }],
    ['it cannot be read', { consent: new ProviderRefused('404', 404) }],
  ])('the status stays the reason if %s', async (_what, setup) => {
    const { start, record, reads } = world(undefined, { ...refused, ...setup });
    await start();
    expect([record()?.reason, reads.length]).toEqual(['http-403', 1]);
  });

  test.each<[string, object]>([
    ['less than 20 s of the invocation are left', { ...refused, msLeft: 19_999 }],
    ['the answer named its error', { answers: [explained(403)] }],
    ['it is unknown whether a task exists', { answers: [new ProviderAmbiguous('503', { status: 503 })] }],
  ])('nothing is read if %s', async (_what, setup) => {
    const { start, reads } = world(undefined, { consent: ['INACTIVE', 'EXPIRED'], ...setup });
    await start();
    expect(reads).toEqual([]);
  });
});

/** Every status that may carry an `errorType`, and what it means for the start (design, section 3). */
const resultOf = (status: number) => {
  if (status === 401) return { as: 'not-yet', why: 'ProviderUnauthorized' };
  if (status === 429) return { as: 'not-yet', why: 'ProviderBusy' };
  const isUnknown = status >= 500 || status === 408;
  return { as: 'closed', record: { status: isUnknown ? 'UNCONFIRMED' : 'REJECTED' } };
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
