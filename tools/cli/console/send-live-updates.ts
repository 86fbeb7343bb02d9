import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Content } from './pages/page-content-and-links.ts';

export type LiveDeps = {
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly everyMs: number;
  /** Reports a defect. The page only says that there was one. */
  readonly onError: (error: unknown) => void;
};

type Stream = { readonly load: () => Promise<Content>; readonly onEnd: () => void };

const digestOf = (model: unknown): string =>
  createHash('sha256').update(JSON.stringify(model)).digest('base64');

/**
 * Sends a page again whenever what it shows has changed, as the server-sent event `page`, until the browser leaves. In between,
 * `checked` says that nothing has changed. A page that cannot be read any more ends the stream, and the browser connects again.
 */
export const sendLive = (c: Context, { load, onEnd }: Stream, { now, sleep, everyMs, onError }: LiveDeps) => {
  const follow = async (stream: SSEStreamingApi): Promise<void> => {
    stream.onAbort(onEnd);
    let sent: string | undefined;
    while (!stream.aborted && !stream.closed) {
      const content = await load();
      const digest = digestOf(content.model);
      if (digest === sent) {
        await stream.writeSSE({ event: 'checked', data: '' });
      } else {
        const html = String(await content.body(now()));
        await stream.writeSSE({ event: 'page', data: JSON.stringify({ title: content.title, html }) });
      }
      sent = digest;
      await sleep(everyMs);
    }
  };
  return streamSSE(c, follow, async (error) => {
    onEnd();
    onError(error);
  });
};
