import type { MiddlewareHandler } from 'hono';
import type { Call, Sandbox } from '../state.ts';
import type { SandboxEnv } from './wire.ts';

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
    let announced = false;
    const announce = () => {
      if (!announced) sandbox.events.append({ type: 'call-received', call });
      announced = true;
    };
    c.set('call', call);
    c.set('announce', announce);
    c.set('body', await c.req.text());
    await next();
    announce();
    call.status = wasAnswered(c.res, c.req.raw.signal) ? c.res.status : 'none';
    sandbox.events.append({ type: 'call', call });
  };
};

/** Not where the route has said that it sends nothing, nor where the client has left before the answer. */
const wasAnswered = (response: Response, client: AbortSignal): boolean =>
  !response.headers.has('x-hono-already-sent') && !client.aborted;
