import { expect, it } from 'vitest';
import { tail } from '../../../../tools/local/run-command.ts';

it('returns the last lines of an output, indented, without colours and blank lines', () => {
  expect(tail('one\n\u001b[31mtwo\u001b[39m  \n\n  three\n', 2)).toBe('  two\n    three');
});
