import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { hostOf, loopback } from '../lib/http/loopback-guard.ts';
import { createClock, type SandboxClock } from './clock.ts';
import { describeEvent } from './describe-event.ts';
import { createEventLog } from './event-log.ts';
import { createApp } from './http-app.ts';
import { type ClientOptions, clientFrom } from './registered-client.ts';
import type { Sandbox, Settings } from './state-types.ts';

export type SandboxOptions = Partial<Settings> & {
  /** 0: any free port. */
  readonly port?: number;
  /** At least one. `startSandbox` returns the id and key of the first. */
  readonly clients?: readonly [ClientOptions, ...ClientOptions[]];
  /** The base clock, in milliseconds since the epoch. The control interface advances it. */
  readonly now?: () => number;
  /** Called with a line for each call, task and delivery. The line has no secret. */
  readonly log?: (line: string) => void;
};

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A UUID, as the provider's client ids are. */
export const DEFAULT_CLIENT_ID = '00000000-0000-4000-8000-000000000001';

/** Obvious test data. It is the same at every start, so that configured clients keep working. */
export const DEFAULT_CLIENT: ClientOptions = {
  clientId: DEFAULT_CLIENT_ID,
  apiKey: 'sandbox-api-key',
  webhook: { signingKey: 'sandbox-signing-key' },
};

const DEFAULTS: Settings = {
  webhooks: true,
  taskDurationMs: 1500,
  // The document's "Retry schedule", continued to the fifth attempt.
  deliveryIntervalsMs: [0, 30_000, 60_000, 90_000, 120_000],
  attemptTimeoutMs: 5000,
  otpTokenLifeMs: 15 * MINUTE_MS,
  // The document does not show this one and that of a task.
  taskTokenLifeMs: 60 * MINUTE_MS,
  consentLifeMs: 365 * DAY_MS,
  taskLifeMs: 7 * DAY_MS,
  markers: {},
};

/**
 * Starts the provider sandbox.
 *
 * @throws the server's own error when it cannot listen, e.g. `EADDRINUSE`.
 */
export const startSandbox = async (options: SandboxOptions = {}) => {
  const { port = 0, clients = [DEFAULT_CLIENT], log, now = Date.now, ...settings } = options;
  const clock = createClock(now);
  const stopped = new AbortController();
  let outage: { readonly end: AbortController; readonly over: Promise<void> } | undefined;
  const goDown = (milliseconds: number): Promise<void> => {
    const end = new AbortController();
    outage = {
      end,
      over: closeFor(server, clock, milliseconds, { end: end.signal, stopped: stopped.signal }),
    };
    return outage.over;
  };
  const sandbox: Sandbox = {
    settings: { ...DEFAULTS, ...settings },
    clock,
    events: createEventLog(clock.now),
    goDown,
    clients: new Map(clients.map((client) => [client.clientId, clientFrom(client)])),
    signingSecret: randomBytes(32).toString('hex'),
    tokens: new Map(),
    consents: new Map(),
    openPages: new Map(),
    tasks: new Map(),
    polledTasks: new Map(),
    plans: new Map(),
    faults: [],
    calls: [],
    pending: new AbortController(),
  };
  if (log !== undefined) {
    sandbox.events.subscribe((event) => {
      const line = describeEvent(event);
      if (line !== undefined) log(line);
    });
  }
  const server = createAdaptorServer({
    fetch: createApp(sandbox).fetch,
    // It runs inside test processes and must not replace their Request and Response.
    overrideGlobalObjects: false,
    // Node's 5 s are one more than `fetch` keeps a connection: a busy process may send on one that closes just then.
    serverOptions: { keepAliveTimeout: 600_000 },
  }) as Server;
  server.listen(port, loopback);
  await once(server, 'listening');
  const baseUrl = `http://${hostOf((server.address() as AddressInfo).port)}`;
  const [{ apiKey, clientId }] = clients;
  return {
    baseUrl,
    apiKey,
    clientId,
    controlUrl: `${baseUrl}/_sandbox`,
    /** Ends `POST /_sandbox/down` early. The control interface is down too, so only the sandbox's own process can. */
    comeBack: async (): Promise<void> => {
      outage?.end.abort();
      await outage?.over;
    },
    /** Closes every connection, and cancels pending task ends and deliveries. */
    close: (): Promise<void> => {
      stopped.abort();
      return closeAll(server, sandbox);
    },
  };
};

/** Stops listening for a time, or until `end`, then listens on the same port again. */
const closeFor = async (
  server: Server,
  clock: SandboxClock,
  milliseconds: number,
  { end, stopped }: { readonly end: AbortSignal; readonly stopped: AbortSignal },
): Promise<void> => {
  const { address, port } = server.address() as AddressInfo;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await clock.until(clock.now() + milliseconds, AbortSignal.any([end, stopped]));
  if (stopped.aborted) return;
  server.listen(port, address);
  await once(server, 'listening');
};

const closeAll = async (server: Server, sandbox: Sandbox): Promise<void> => {
  sandbox.pending.abort();
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
};
