import type { Fetch } from '#lib/provider/transport/fetch-type.ts';
import type { Connection } from '#lib/provider/transport/send-request.ts';

type Call = { readonly url: string } & Parameters<Fetch>[1];

/** A connection without a network. `answer` makes the answers, and `calls` has the calls. */
export const answering = (
  answer: (call: Call) => { readonly status?: number; readonly body?: string },
  more: Partial<Connection> = {},
) => {
  const calls: Call[] = [];
  const fetch: Fetch = async (url, init) => {
    const call = { url, ...init };
    calls.push(call);
    const { status = 200, body = '' } = answer(call);
    return { status, body: new Response(body).body as unknown as Awaited<ReturnType<Fetch>>['body'] };
  };
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch,
    totalTimeoutMs: 5_000,
    maxAnswerBytes: 65_536,
    ...more,
  };
  return { connection, calls };
};
