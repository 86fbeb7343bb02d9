import type { MiddlewareHandler } from 'hono';
import type { Call } from '../event-log.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from './hono-types.ts';

/** Records every call to a route of the provider, in the order of arrival. */
export const recordCall = (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> => {
  let lastSeq = 0;
  return async (c, next) => {
    lastSeq += 1;
    const call: Call = {
      seq: lastSeq,
      at: new Date(sandbox.clock.now()).toISOString(),
      method: c.req.method,
      path: c.req.path,
      status: 'in progress',
    };
    sandbox.calls.push(call);
    let isReported = false;
    const reportReceived = () => {
      if (!isReported) sandbox.events.append({ type: 'call-received', call });
      isReported = true;
    };
    c.set('call', call);
    c.set('reportReceived', reportReceived);
    c.set('body', await c.req.text());
    await next();
    reportReceived();
    call.status = wasAnswered(c.res, c.req.raw.signal) ? c.res.status : 'none';
    sandbox.events.append({ type: 'call', call });
  };
};

/** False if the route sent nothing, or the client disconnected before the answer. */
const wasAnswered = (response: Response, client: AbortSignal): boolean =>
  !response.headers.has('x-hono-already-sent') && !client.aborted;
