import { describe, expect, it } from 'vitest';
import { ExpectedFailure } from '../../../../tools/local/expected-failure.ts';
import { readOptions } from '../../../../tools/local/read-options.ts';

describe('the options of npm start', () => {
  it('are both methods, without --once and --port, by default', () => {
    expect(readOptions([])).toEqual({ methods: ['credentials', 'consent'], once: false });
  });

  it('are parsed', () => {
    expect(readOptions(['--once', '--port', '4566', '--method', 'consent'])).toEqual({
      methods: ['consent'],
      once: true,
      port: 4566,
    });
    expect(readOptions(['--method', 'credentials'])).toEqual({ methods: ['credentials'], once: false });
    expect(readOptions(['-h'])).toBe('help');
  });

  it.each([
    ['--onc'],
    ['extra'],
    ['--method'],
    ['--method', 'both'],
    ['--port', 'x'],
    ['--port', '0'],
    ['--port', '65536'],
    ['--port'],
  ])('are refused with the usage: %s %s', (...args) => {
    expect(() => readOptions(args)).toThrow(ExpectedFailure);
    expect(() => readOptions(args)).toThrow('Usage: npm start');
  });
});
