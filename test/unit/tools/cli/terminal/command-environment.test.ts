import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { main } from '#tools/cli/main.ts';
import { commandNames, createProgram } from '#tools/cli/program.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';
import { nodeShell, readHidden } from '#tools/cli/terminal/node-shell.ts';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));

/** What was written to the terminal, by either stream. */
let written = '';

beforeEach(() => {
  written = '';
  // Vitest sets FORCE_COLOR, and Node writes a warning if a developer has set NO_COLOR too.
  vi.stubEnv('NO_COLOR', undefined);
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

const interpreted = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Every character that a terminal interprets: control characters, and Unicode's line breaks and reordering. */
const hostile = Array.from({ length: 0x2070 }, (_, code) => String.fromCharCode(code))
  .filter((one) => interpreted.test(one))
  .join('');

test('what a terminal interprets is escaped for people and in JSON, where the facts keep their values', () => {
  const printAll = (json: boolean): readonly string[] => {
    written = '';
    const shell = nodeShell({ json });
    shell.print(hostile, { reference: hostile, [hostile]: { nested: [hostile] } });
    shell.hint(hostile);
    return written.split('\n');
  };
  const lines = printAll(false);
  expect(lines).toHaveLength(3);
  const [line = '', ...rest] = printAll(true);
  expect(rest).toEqual(['']);
  for (const one of [...lines, line]) expect(one).not.toMatch(interpreted);
  expect(JSON.parse(line)).toEqual({ reference: hostile, [hostile]: { nested: [hostile] } });
});

test('a harmless text is printed unchanged', () => {
  nodeShell({ json: false }).print('señal 😀 → “done” \\u001b', {});
  expect(written).toBe('señal 😀 → “done” \\u001b\n');
});

test('a command is a value: quoted for a shell, with the options of its deployment', () => {
  const command = commandTextOf({ stage: 'prod', stack: undefined, profile: "the bank's" });
  expect(command('resume', '--reason', 'a; touch x')).toBe(
    "npm exec --no -- cosecha --stage prod --profile 'the bank'\\''s' resume --reason 'a; touch x'",
  );
  expect(commandTextOf()('doctor')).toBe('npm exec --no -- cosecha doctor');
});

test('what a caller wrote is printed as it is, however it reads', () => {
  const text = '`cosecha resume --yes; touch x`';
  nodeShell({ json: false }).hint([text]);
  expect(written).toBe(`${text}\n`);
  nodeShell({ json: true }).print([], { headline: text, remedy: text });
  expect(written).toContain(JSON.stringify({ headline: text, remedy: text }));
  expect(written).not.toContain('npm exec');
});

/** The code of the command line and of the console, without comments, and without the examples of `--help`. */
const sources = readdirSync('tools/cli', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && path !== 'program.ts')
  .map((path) => [path, readFileSync(`tools/cli/${path}`, 'utf8').replace(/^\s*(?:\/?\*|\/\/).*$/gm, '')]);

test('no text names a command that can be pasted but by its value', () => {
  const names = commandNames(createProgram(async () => undefined, '')).join('|');
  const named = new RegExp(`.{0,12}\\bcosecha (?=(?:${names})\\b)`, 'g');
  const found = sources.flatMap(([path, code = '']) =>
    [...code.matchAll(named)].map(([text]) => `${path}: ${text}`),
  );
  // Pages name three commands without the deployment.
  expect(found.filter((text) => !text.endsWith('<code>cosecha '))).toEqual([]);
});

test('the sign of a check has a colour where the stream has colours, and only there', () => {
  const print = (json: boolean): string => {
    written = '';
    const lines = ['✗ webhook answers 503', '  → Fill ✗', '12:00:01.000Z  ✗ API'];
    nodeShell({ json }).print(lines, { message: '✗' });
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
  expect(written).toContain('There is no file');
  expect(written.trimEnd()).not.toMatch(interpreted);
});

test('for - it is written to standard output, unchanged but for what a terminal interprets', async () => {
  const bytes = Buffer.from('{"name":"\u001b[2J"}');
  for (const [isTTY, expected] of [
    [undefined, bytes.toString()],
    [true, '{"name":"\\u001b[2J"}\n'],
  ] as const) {
    const stdout = Object.assign(new PassThrough(), { isTTY });
    vi.spyOn(process, 'stdout', 'get').mockReturnValue(stdout as unknown as typeof process.stdout);
    await nodeShell({ json: false }).writePrivately('-', bytes);
    expect(String(stdout.read())).toBe(expected);
  }
});

/** A terminal, as far as readline uses one. It records the modes it was put into. */
const terminal = () => {
  const modes: boolean[] = [];
  const setRawMode = (raw: boolean) => void modes.push(raw);
  return { input: Object.assign(new PassThrough(), { isTTY: true, setRawMode }), modes };
};

test('a text typed at a terminal is prompted for by its name, read until Ctrl-D and not echoed', async () => {
  const { input, modes } = terminal();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  const reading = nodeShell({ json: false }).readText('-', 'the credentials as JSON');
  input.write('{"password":\r"secrey\u007ft"}\r\u0004');
  expect(await reading).toBe('{"password":\n"secret"}\n');
  // Only in raw mode does the terminal itself echo nothing.
  expect(modes).toEqual([true, false]);
  expect(written).toBe(
    'Type the credentials as JSON. What you type is not shown. End with Enter and Ctrl-D.\n',
  );
});

const credentials = '{"password":"contraseña"}';
const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16();
const encodings: readonly [name: string, bytes: Buffer, read: string | RegExp][] = [
  ['UTF-8', Buffer.from(credentials), credentials],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${credentials}`), credentials],
  ['ISO 8859-1', Buffer.from(credentials, 'latin1'), /is not UTF-8.*iconv/],
  ['UTF-16', Buffer.from(`\ufeff${credentials}`, 'utf16le'), /is in UTF-16\. Save it as UTF-8/],
  ['UTF-16, big-endian', bigEndian(`\ufeff${credentials}`), /is in UTF-16/],
  ['UTF-16 without a byte order mark', Buffer.from(credentials, 'utf16le'), /is in UTF-16/],
  ['nothing', Buffer.alloc(0), ''],
];

test.each(encodings)(
  'a file or a pipe in %s is read as it was written, or refused',
  async (_, bytes, read) => {
    const file = join(temporaryDirectory(), 'credentials.json');
    await writeFile(file, bytes);
    const pipe = new PassThrough();
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(pipe as unknown as typeof process.stdin);
    pipe.end(bytes);
    const shell = nodeShell({ json: false });
    for (const path of [file, '-']) {
      const reading = shell.readText(path, 'the credentials as JSON');
      if (typeof read === 'string') expect(await reading).toBe(read);
      else {
        const error = await reading.catch((one: unknown) => one);
        expect(error).toMatchObject({ name: 'CliError', message: expect.stringMatching(read) });
        expect(inspect(error, { depth: 9 })).not.toContain('contrase');
      }
    }
  },
);

/** Resolves once this was written to the terminal. */
const shown = (text: string) => vi.waitUntil(() => written.includes(text));

test('a secret is one line, without echo, and not the next line of a block that was pasted', async () => {
  const { input, modes } = terminal();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  input.write('cosecha fill signing-key\r');
  const reading = nodeShell({ json: false }).readSecret('the key');
  await shown('Type the key, which is not shown, and Enter: ');
  input.write('k3y-sentinel\rnext command\r');
  expect(await reading).toBe('k3y-sentinel');
  expect(modes.at(-1)).toBe(false);
  expect(written).not.toContain('sentinel');
});

test('a secret in a pipe is the whole of it, without the line break at its end', async () => {
  const pipe = new PassThrough();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(pipe as unknown as typeof process.stdin);
  pipe.end('k3y \r\n');
  expect(await nodeShell({ json: false }).readSecret('the key')).toBe('k3y ');
  expect(written).toBe('');
});

test('a password that a terminal does not send as UTF-8 is refused', async () => {
  const { input } = terminal();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  const reading = nodeShell({ json: false }).readText('-', 'the credentials as JSON');
  input.write(Buffer.from('contraseña\r\u0004', 'latin1'));
  await expect(reading).rejects.toThrow(
    'What was typed is not UTF-8. Set the terminal to UTF-8, or use a file.',
  );
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
  const moves = { cursorTo: move, clearLine: move, moveCursor: move };
  const stdout = Object.assign(new PassThrough(), { isTTY: true, ...moves });
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
