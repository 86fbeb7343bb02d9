import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { extract, requestFor, uniqueUsername } from './support/extractions.ts';
import { cosecha, factsOf, startCosecha } from './support/operator.ts';
import { closed } from './support/records.ts';

type Event = { readonly kind: string; readonly extractionId: string; readonly eventId: string };
type Received = { readonly event: Event; readonly body: string; readonly headers: Record<string, string> };

/** A handler of events. `decide` returns whether it answers. Extractions of other tests arrive too. */
const startHandler = async (decide: (event: Event) => boolean) => {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const event = JSON.parse(body) as Event;
    received.push({ event, body, headers: request.headers as Record<string, string> });
    for (const check of waiting) check();
    if (decide(event)) response.writeHead(204).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isThere()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, until, stop };
};

test('listen that is killed goes on with the same event, loses none, and signs each', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-listen-'));
  const state = join(directory, 'state.json');
  let first: string | undefined;
  let answersFirst = false;
  const handler = await startHandler(({ extractionId }) => extractionId !== first || answersFirst);
  const listen = () => {
    const child = startCosecha(['listen', '--forward-to', handler.url, '--state', state]);
    // A full pipe would block it.
    child.stdout.resume();
    return child;
  };
  const of = (extractionId: string) =>
    handler.received.filter(({ event }) => event.extractionId === extractionId);
  try {
    const listener = listen();
    // It prints this once no later event can be missed.
    await once(listener.stderr, 'data');
    first = await extract(requestFor(uniqueUsername()));
    const one = first;
    await handler.until(() => of(one).length > 0);
    listener.kill('SIGKILL');
    await once(listener, 'close');
    const second = await extract(requestFor(uniqueUsername()));
    await closed(second);

    answersFirst = true;
    const again = listen();
    const ended = once(again, 'close');
    await handler.until(() => of(second).some(({ event }) => event.kind === 'collected'));
    again.kill('SIGINT');
    expect(await ended).toEqual([130, null]);

    expect(of(one).map(({ event }) => event.kind)).toEqual(['settled', 'settled', 'collected']);
    expect(of(one)[1]?.event.eventId).toBe(of(one)[0]?.event.eventId);
    expect(of(second).map(({ event }) => event.kind)).toEqual(['settled', 'collected']);
    const { secret } = JSON.parse(await readFile(state, 'utf8')) as { readonly secret: string };
    for (const { body, headers, event } of [...of(one), ...of(second)]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(event);
      expect(headers['webhook-id']).toBe(event.eventId);
    }

    const replayed = await cosecha(['listen', '--print', '--replay', one, '--json']);
    expect(replayed.code).toBe(0);
    expect(factsOf(replayed).map(({ eventId }) => eventId)).toEqual(
      of(one)
        .slice(1)
        .map(({ event }) => event.eventId),
    );
  } finally {
    handler.stop();
    await rm(directory, { recursive: true });
  }
});
