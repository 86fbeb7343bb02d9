import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { SandboxContext } from './wire.ts';

/** Never answers: keeps the connection open until the client closes it. */
export const holdSilent = async (c: SandboxContext): Promise<Response> => {
  const { signal } = c.req.raw;
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  return RESPONSE_ALREADY_SENT;
};
