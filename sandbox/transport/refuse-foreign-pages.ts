import type { MiddlewareHandler } from 'hono';
import { foreignRefusal } from '../../lib/http/loopback-guard.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from './hono-types.ts';
import { refused } from './refusal.ts';

/** The control interface has no authentication, so only programs of this machine and the sandbox's own pages reach it. */
export const refuseForeignPages =
  ({ settings: { host } }: Sandbox): MiddlewareHandler<SandboxEnv> =>
  (c, next) => {
    const message = foreignRefusal(c.req.raw, { port: c.env.incoming.socket.localPort ?? 0, host });
    if (message === undefined) return next();
    throw refused(403, { message });
  };
