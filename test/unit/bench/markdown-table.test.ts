import { expect, test } from 'vitest';
import { markdownTable } from '../../bench/markdown-table.ts';

test('puts columns of figures to the right, and words to the left', () => {
  const rows = [
    ['per extraction', 'happy', 'unit'],
    ['write units', '14', 'unit of 1 KB'],
    ['nothing', '', ''],
    ['duration', '7.5 to 9', 'ms'],
  ];
  expect(markdownTable(rows)).toBe(
    [
      '| per extraction |    happy | unit         |',
      '| -------------- | -------: | ------------ |',
      '| write units    |       14 | unit of 1 KB |',
      '| nothing        |          |              |',
      '| duration       | 7.5 to 9 | ms           |',
    ].join('\n'),
  );
});
