import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { consoleOver, sourcesWith } from '../../../../support/console-fixtures.ts';
import { extractionIn } from '../../../../support/extraction-fixtures.ts';

/** Reads a stream of server-sent events until there are so many. */
const readEvents = async (answer: Response, count: number): Promise<readonly string[]> => {
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.split('\n\n').length <= count) {
    const { value = '', done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text.split('\n\n').slice(0, count);
};

test('a page is sent again when what it shows has changed, and only then', async () => {
  const records: Extraction[] = [extractionIn('RUNNING', { reference: 'first' })];
  let sleeps = 0;
  const { get } = consoleOver(sourcesWith([], { open: async () => [...records] }), {
    sleep: async () => {
      sleeps += 1;
      if (sleeps === 2) records[0] = extractionIn('RUNNING', { reference: 'second' });
    },
  });
  const answer = await get('/live?page=%2F');
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const [first, second, third] = await readEvents(answer, 3);
  expect(first).toContain('event: page');
  expect(first).toContain('first');
  expect(second).toContain('event: checked');
  expect(third).toContain('event: page');
  expect(third).toContain('second');
});
