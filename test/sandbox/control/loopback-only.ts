import type { MiddlewareHandler } from 'hono';
import type { SandboxEnv } from '../transport/wire.ts';

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** The control interface has no authentication, so it only answers its own machine. */
export const loopbackOnly: MiddlewareHandler<SandboxEnv> = async (c, next) => {
  if (!loopback.has(c.env.incoming.socket.remoteAddress ?? '')) {
    return c.json({ message: 'The control interface only answers its own machine' }, 403);
  }
  await next();
  return undefined;
};
