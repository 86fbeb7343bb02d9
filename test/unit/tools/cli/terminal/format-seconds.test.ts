import { expect, test } from 'vitest';
import { formatSeconds } from '../../../../../tools/cli/terminal/format-seconds.ts';

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59.6, '1 min'],
  [61, '1 min 1 s'],
  [3_600, '1 h'],
  [11_100, '3 h 5 min'],
  [200_000, '2 d 7 h'],
  [86_405, '1 d'],
])('%d seconds are formatted as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
