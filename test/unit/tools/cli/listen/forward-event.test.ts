import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type ForwardDeps, forwardEvent } from '../../../../../tools/cli/listen/forward-event.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const event = {
  kind: 'erased',
  extractionId: 'e-1',
  eventId: 'event-1',
  sequenceNumber: '1',
};
const posted = { eventId: event.eventId, body: JSON.stringify(event) };

type Sent = { readonly body: string; readonly headers: Record<string, string> };

/** Forwards the event to a handler with these answers, one after the other. */
const forward = async (answers: readonly (number | Error)[], over: Partial<ForwardDeps> = {}) => {
  const queue = [...answers];
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const failures: string[] = [];
  const status = await forwardEvent(posted, {
    failureIn: () => undefined,
    url: 'http://localhost:3000/hook',
    secret,
    fetch: async (_url, { body, headers }) => {
      sent.push({ body: String(body), headers: headers as Record<string, string> });
      const answer = queue.shift() ?? 200;
      if (answer instanceof Error) throw answer;
      return new Response(null, { status: answer });
    },
    now: () => new Date(),
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    onFailed: (answer) => void failures.push(answer),
    signal: new AbortController().signal,
    ...over,
  });
  return { status, sent, pauses, failures };
};

test('the event is the body, and a library of Standard Webhooks verifies its signature', async () => {
  const { status, sent } = await forward([204]);
  expect(status).toBe(204);
  const [{ body, headers }] = sent as [Sent];
  expect(JSON.parse(body)).toEqual(event);
  expect(new Webhook(secret).verify(body, headers)).toEqual(event);
  expect(() => new Webhook(secret).verify(body.replace('erased', 'expired'), headers)).toThrow();
});

test('it is repeated with the same id until the answer is 2xx, at growing intervals of 30 s at most', async () => {
  const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
  const { status, sent, pauses, failures } = await forward([500, refused, 302, 404, 500, 500, 500]);
  expect(status).toBe(200);
  expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['event-1']));
  expect(failures.slice(0, 4)).toEqual(['500', 'no answer (ECONNREFUSED)', '302', '404']);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test('an answer 2xx whose body is a failure is no acceptance', async () => {
  const { status, failures } = await forward([200, 200], {
    failureIn: (() => {
      const results = ['the function failed', undefined];
      return () => results.shift();
    })(),
  });
  expect({ status, failures }).toEqual({ status: 200, failures: ['the function failed'] });
});

test('an interruption ends the repetitions, and the event counts as not handled', async () => {
  const stop = new AbortController();
  const { status, sent } = await forward([500, 500], {
    signal: stop.signal,
    sleep: async () => stop.abort(),
  });
  expect({ status, tries: sent.length }).toEqual({ status: undefined, tries: 1 });
});
