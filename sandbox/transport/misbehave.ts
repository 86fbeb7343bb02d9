import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import type { CallBehaviour, Fault, PlannedAnswer } from '../plan-schemas.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxContext, SandboxEnv } from './hono-types.ts';

/** Answers a call as a fault demands, whatever its content. */
export const misbehave = (behaviour: CallBehaviour, c: SandboxContext): Response | Promise<Response> => {
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'reset':
      return resetConnection(c);
    case 'trickle':
      return trickle(JSON.stringify(behaviour.body ?? {}));
  }
};

/** A Response with one of these may not have a body (Fetch standard, "null body status"). */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export const plannedAnswer = ({ status, body, headers }: PlannedAnswer): Response => {
  if (bodiless.has(status)) return new Response(null, { status, headers: headers ?? {} });
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? { message: STATUS_CODES[status] });
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
};

/** Never answers: keeps the connection open until the client closes it. */
const holdSilent = async (c: SandboxContext): Promise<Response> => {
  const { signal } = c.req.raw;
  if (!signal.aborted) await once(signal, 'abort');
  return RESPONSE_ALREADY_SENT;
};

/** Resets the TCP connection. */
export const resetConnection = (c: SandboxContext): Response => {
  c.env.incoming.socket.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
};

/** A 200 that sends its headers at once and its body with one byte per second. */
export const trickle = (text: string): Response => {
  const bytes = new TextEncoder().encode(text);
  const left = new AbortController();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent > 0) await delay(1000, undefined, { signal: left.signal });
      controller.enqueue(bytes.subarray(sent, sent + 1));
      sent += 1;
      if (sent === bytes.length) controller.close();
    },
    cancel() {
      left.abort();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
};

/** Applies the first matching fault that has a behaviour left. */
export const applyFault =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const now = sandbox.clock.now();
    const fault = sandbox.faults.find(
      (each) =>
        each.behaviours.length > 0 &&
        (each.endsAt === undefined || now < each.endsAt) &&
        fits(each, c.req.method, c.req.path),
    );
    const behaviour = fault?.behaviours.shift();
    if (behaviour !== undefined && fault?.endsAt !== undefined) fault.behaviours.push(behaviour);
    if (behaviour === undefined || behaviour.kind === 'pass') return next();
    c.get('reportReceived')();
    if (behaviour.kind !== 'slow') return misbehave(behaviour, c);
    await delay(behaviour.delayMs);
    return next();
  };

const fits = (fault: Fault, method: string, path: string): boolean => {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
};
