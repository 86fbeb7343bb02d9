import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import { afterAll } from 'vitest';

const closing: (() => void)[] = [];

afterAll(() => {
  for (const close of closing.splice(0)) close();
});

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

type SeenRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** A local HTTP server, closed after the file's tests. `answer` is called once the body has arrived. */
export const httpServer = async (answer: (response: ServerResponse, request: SeenRequest) => void) => {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body });
    answer(response, { method, url, headers, body });
  });
  const port = await listening(server);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${port}`, seen };
};

/** A local TCP server, for invalid HTTP. Closed after the file's tests. */
export const rawServer = async (onConnection: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    // These tests break connections.
    socket.on('error', () => {});
    onConnection(socket);
  });
  const port = await listening(server);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  closing.push(close);
  return { baseUrl: `http://127.0.0.1:${port}`, port, connections: () => sockets.size, close };
};
