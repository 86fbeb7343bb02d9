import { expect, test } from 'vitest';
import { freshConnectionFetch } from '../../../../../lib/provider/transport/fresh-connection.ts';
import { rawServer } from '../../../../support/local-servers.ts';

test('the connection is ended once the body has been read: none is left behind, frozen with the function', async () => {
  let ended = (): void => {};
  const hungUp = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const { baseUrl } = await rawServer((socket) => {
    socket.on('end', ended);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
  });
  const answer = await freshConnectionFetch(1_000)(baseUrl, {
    method: 'GET',
    headers: {},
    redirect: 'manual',
    signal: AbortSignal.timeout(5_000),
  });
  for await (const chunk of answer.body ?? []) expect(Buffer.from(chunk).toString()).toBe('{}');
  await hungUp;
});
