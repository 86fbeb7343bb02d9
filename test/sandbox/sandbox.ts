import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createApp } from './app.ts';
import { type ClientOptions, clientFrom } from './client.ts';
import { createClock, type SandboxClock } from './clock.ts';
import { describeEvent } from './describe-event.ts';
import { createEventLog } from './events.ts';
import type { Marks, Sandbox } from './state.ts';

export type { ClientOptions };

export type SandboxOptions = {
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** At least one; the first is the one that `startSandbox` names in its answer. */
  readonly clients?: readonly [ClientOptions, ...ClientOptions[]];
  /** False: never emits the webhook, as the provider's own sandbox. */
  readonly webhooks?: boolean;
  readonly taskDurationMs?: number;
  /** Offset of attempt 1, 2, … from the task's end. */
  readonly deliveryIntervalsMs?: readonly number[];
  readonly attemptTimeoutMs?: number;
  /** How long an OTP token, and the consent that waits for it, is good for; default 15 minutes. */
  readonly otpTokenLifeMs?: number;
  /** Default 60 minutes; "not shown". */
  readonly taskTokenLifeMs?: number;
  /** From its authorization; default 365 days. */
  readonly consentLifeMs?: number;
  /** How long a task can be read, from its creation; default 7 days; "not shown". */
  readonly taskLifeMs?: number;
  /** Default: none. */
  readonly marks?: Marks;
  /** Milliseconds since the epoch; the control interface's advances are added to it. */
  readonly now?: () => number;
  /** Gets one line per call, task and delivery; no secret is in it. */
  readonly log?: (line: string) => void;
};

export interface RunningSandbox {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clientId: string;
  readonly controlUrl: string;
  /** Cuts every connection and stops what was still to happen. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A UUID, as the provider's client ids are. */
export const DEFAULT_CLIENT_ID = '00000000-0000-4000-8000-000000000001';

/** Obvious test data, the same at every start, so that what was once configured goes on working. */
const DEFAULT_CLIENT: ClientOptions = {
  clientId: DEFAULT_CLIENT_ID,
  apiKey: 'sandbox-api-key',
  webhook: { signingKey: 'sandbox-signing-key' },
};

/** "Retry schedule" of the document, continued to its fifth attempt (design section 11). */
const DOCUMENTED_INTERVALS_MS = [0, 30_000, 60_000, 90_000, 120_000];

/**
 * Starts the provider sandbox.
 *
 * @throws the server's own error when it cannot listen, e.g. `EADDRINUSE`.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<RunningSandbox> => {
  const { host = '127.0.0.1', port = 0, clients = [DEFAULT_CLIENT], log, now = Date.now } = options;
  const clock = createClock(now);
  const stopped = new AbortController();
  const sandbox: Sandbox = {
    settings: {
      webhooks: options.webhooks ?? true,
      taskDurationMs: options.taskDurationMs ?? 1500,
      deliveryIntervalsMs: options.deliveryIntervalsMs ?? DOCUMENTED_INTERVALS_MS,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 5000,
      otpTokenLifeMs: options.otpTokenLifeMs ?? 15 * MINUTE_MS,
      taskTokenLifeMs: options.taskTokenLifeMs ?? 60 * MINUTE_MS,
      consentLifeMs: options.consentLifeMs ?? 365 * DAY_MS,
      taskLifeMs: options.taskLifeMs ?? 7 * DAY_MS,
      marks: options.marks ?? {},
    },
    clock,
    events: createEventLog(clock.now),
    goDown: (milliseconds) => closeFor(server, clock, milliseconds, stopped.signal),
    clients: new Map(clients.map((client) => [client.clientId, clientFrom(client)])),
    signingSecret: randomBytes(32),
    sessions: new Map(),
    otpTokens: new Map(),
    taskTokens: new Map(),
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
    // It runs inside test processes, whose Request and Response are theirs.
    overrideGlobalObjects: false,
  }) as Server;
  server.listen(port, host);
  await once(server, 'listening');
  const baseUrl = `http://${host}:${(server.address() as AddressInfo).port}`;
  const [{ apiKey, clientId }] = clients;
  return {
    baseUrl,
    apiKey,
    clientId,
    controlUrl: `${baseUrl}/_sandbox`,
    close: () => {
      stopped.abort();
      return closeAll(server, sandbox);
    },
  };
};

/** On the same port after that. */
const closeFor = async (
  server: Server,
  clock: SandboxClock,
  milliseconds: number,
  stopped: AbortSignal,
): Promise<void> => {
  const { address, port } = server.address() as AddressInfo;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await clock.until(clock.now() + milliseconds, stopped);
  if (!stopped.aborted) server.listen(port, address);
};

const closeAll = async (server: Server, sandbox: Sandbox): Promise<void> => {
  sandbox.pending.abort();
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
};
