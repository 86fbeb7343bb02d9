import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { hostOf, loopback } from '../../../lib/http/loopback-guard.ts';
import { CliError, codeOf } from '../terminal/errors.ts';
import { type ConsoleDeps, createConsoleApp } from './app.ts';
import { newToken } from './values-by-random-id.ts';

export type RunningConsole = {
  /** With the secret. A person who has it sees what the operator's AWS credentials may read. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/** Serves the console on this machine, on any free port for 0. Throws CliError if the port is taken. */
export const serveConsole = async (port: number, deps: Omit<ConsoleDeps, 'address'>) => {
  const server = createServer();
  server.listen(port, loopback);
  await once(server, 'listening').catch((cause: unknown) => {
    throw new CliError(
      `Port ${port} cannot be used (${String(codeOf(cause))}). Choose another with --port, or omit it for any free one.`,
      { cause },
    );
  });
  const token = newToken();
  const own = (server.address() as AddressInfo).port;
  const app = createConsoleApp({ ...deps, address: { port: own, token } });
  server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  return { url: `http://${hostOf(own)}/${token}/`, close: () => close(server) };
};

const close = async (server: Server): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
};
