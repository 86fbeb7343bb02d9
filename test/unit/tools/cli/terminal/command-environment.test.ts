import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../../../../tools/cli/main.ts';
import { nodeShell, readHidden } from '../../../../../tools/cli/terminal/node-shell.ts';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));

/** What was written to the terminal, by either stream. */
let written = '';

beforeEach(() => {
  written = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written += String(chunk);
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const controlCharacters = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((one) =>
  /\p{Cc}/u.test(one),
);

/** Texts that a terminal interprets: OSC 52 fills the clipboard, CSI 2J clears the screen. */
const hostile = [
  ['every control character', controlCharacters.join('')],
  ['a text for the clipboard', '\u001b]52;c;cm0gLXJmIH4=\u0007'],
  ['CSI as one character', '\u009b2J'],
  ['a carriage return that overwrites the line', 'FAILED\rCOMPLETED'],
  ['an additional line', 'mine\nstatus  COMPLETED'],
  ['line breaks of Unicode', 'mine\u2028status\u2029COMPLETED'],
  ['letters from right to left', '\u202eDETELPMOC\u2066'],
] as const;

const interpreted = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

const printAll = (json: boolean, text: string): void => {
  const shell = nodeShell({ json });
  shell.print(text, { reference: text, [text]: { nested: [text] } });
  shell.hint(text);
};

test.each(hostile)(
  '%s is escaped for people and in JSON, where the facts keep their values',
  (_what, text) => {
    printAll(false, text);
    const lines = written.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.filter((line) => interpreted.test(line))).toEqual([]);
    written = '';
    printAll(true, text);
    const [line = '', ...rest] = written.split('\n');
    expect(rest).toEqual(['']);
    expect(line).not.toMatch(interpreted);
    expect(JSON.parse(line)).toEqual({ reference: text, [text]: { nested: [text] } });
  },
);

test('a harmless text is printed unchanged', () => {
  nodeShell({ json: false }).print('señal 😀 → “done” \\u001b', {});
  expect(written).toBe('señal 😀 → “done” \\u001b\n');
});

test('the sign of a check has a colour where the stream has colours, and only there', () => {
  const print = (json: boolean): string => {
    written = '';
    nodeShell({ json }).print(['✗ webhook answers 503', '  → Fill ✗', '12:00:01.000Z  ✗ API'], {
      message: '✗',
    });
    return written;
  };
  const plain = '✗ webhook answers 503\n  → Fill ✗\n12:00:01.000Z  ✗ API\n';
  vi.stubEnv('FORCE_COLOR', '1');
  const red = '\u001b[31m✗\u001b[39m';
  expect(print(false)).toBe(`${red} webhook answers 503\n  → Fill ✗\n12:00:01.000Z  ${red} API\n`);
  expect(print(true)).toBe('{"message":"✗"}\n');
  vi.stubEnv('FORCE_COLOR', '0');
  expect(print(false)).toBe(plain);
});

test.each(['', '--json'])('the message of a failure is escaped %s', async (flag) => {
  const path = '/nowhere/\u001b]0;owned\u0007\u009b2J';
  const code = await main([...(flag === '' ? [] : [flag]), 'start', '--file', path], root);
  expect(code).toBe(1);
  expect(written).toContain('could not be read');
  expect(written.trimEnd()).not.toMatch(interpreted);
});

test('what is written is for its owner alone, and a file that exists stays as it is', async () => {
  const shell = nodeShell({ json: false });
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-shell-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'results');
  await shell.writePrivately(file, new Uint8Array());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(shell.writePrivately(file, new Uint8Array())).rejects.toThrow(
    `${file} exists, and is not overwritten. Name another file, or remove this one.`,
  );
});

/** A terminal, as far as readline uses one. It records the modes it was put into. */
const terminal = () => {
  const modes: boolean[] = [];
  const setRawMode = (raw: boolean) => void modes.push(raw);
  return { input: Object.assign(new PassThrough(), { isTTY: true, setRawMode }), modes };
};

test('the prompt for a text names it', async () => {
  const { input } = terminal();
  const { stdin } = process;
  Object.defineProperty(process, 'stdin', { configurable: true, value: input });
  try {
    const read = nodeShell({ json: false }).readText('-', 'the credentials as JSON');
    expect(written).toBe(
      'Type the credentials as JSON. What you type is not shown. End with Enter and Ctrl-D.\n',
    );
    input.end('{}\n');
    expect(await read).toBe('{}\n');
  } finally {
    Object.defineProperty(process, 'stdin', { configurable: true, value: stdin });
  }
});

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

test('Ctrl-C does not end a command that asked for it, also where it waited before', () => {
  const move = () => true;
  const stdout = Object.assign(new PassThrough(), {
    isTTY: true,
    cursorTo: move,
    clearLine: move,
    moveCursor: move,
  });
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(stdout as unknown as typeof process.stdout);
  const others = new Set([...process.listeners('SIGINT'), ...process.listeners('SIGTERM')]);
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const shell = nodeShell({ json: false });
  shell.wait('requesting');
  const interrupted = shell.interrupted();
  shell.wait('following');
  // Only those of this shell: the process is that of other tests too.
  const own = process.listeners('SIGINT').filter((one) => !others.has(one));
  for (const one of own) one('SIGINT');
  expect(interrupted.aborted).toBe(true);
  expect(exit).not.toHaveBeenCalled();
  shell.wait(undefined);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    for (const one of process.listeners(signal)) if (!others.has(one)) process.off(signal, one);
  }
});
