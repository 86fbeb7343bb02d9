import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { readHidden } from '../../../../../tools/cli/terminal/read-hidden.ts';

afterEach(() => vi.restoreAllMocks());

/** A terminal, as far as readline uses one. It records the modes it was put into. */
const terminal = () => {
  const modes: boolean[] = [];
  const setRawMode = (raw: boolean) => void modes.push(raw);
  return { input: Object.assign(new PassThrough(), { isTTY: true, setRawMode }), modes };
};

test('a text typed at a terminal is read until Ctrl-D and not echoed', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { input, modes } = terminal();
  const reading = readHidden(input);
  input.write('{"password":\r"secrey\u007ft"}\r\u0004');
  expect(await reading).toBe('{"password":\n"secret"}\n');
  // Only in raw mode does the terminal itself echo nothing.
  expect(modes).toEqual([true, false]);
  expect(written).not.toHaveBeenCalled();
});

test('Ctrl-C interrupts the process, with the terminal as it was before', async () => {
  const { input, modes } = terminal();
  const interrupted = new Promise<unknown>((resolve) => {
    vi.spyOn(process, 'kill').mockImplementation((_pid, signal) => {
      resolve(signal);
      return true;
    });
  });
  void readHidden(input);
  input.write('half\u0003');
  expect(await interrupted).toBe('SIGINT');
  expect(modes).toEqual([true, false]);
});
