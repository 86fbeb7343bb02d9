import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { SandboxContext } from './wire.ts';

/** Resets the TCP connection. */
export const resetConnection = (c: SandboxContext): Response => {
  c.env.incoming.socket.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
};
