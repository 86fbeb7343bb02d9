import { expect, test } from 'vitest';
import { eventStream } from '../../../sandbox/control/event-stream.ts';
import { createEventLog } from '../../../sandbox/events.ts';
import type { Sandbox } from '../../../sandbox/state.ts';

test('a quiet event stream sends keep-alive comments', async () => {
  const sandbox = { events: createEventLog(() => 0) } as unknown as Sandbox;
  const reader = eventStream(sandbox, 0, 5).body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe(':\n\n');

  sandbox.events.append({ type: 'reset' });
  let text = '';
  while (!text.includes('data: ')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(text).toMatch(/^(:\n\n)*id: 1\ndata: \{.*"type":"reset"/);
  await reader?.cancel();
});
