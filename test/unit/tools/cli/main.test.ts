import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { id } from '#support/data/extraction-fixtures.ts';
import { findProgram } from '#support/programs/describe-if-installed.ts';
import { httpServer, rawServer } from '#support/programs/stub-servers.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { main } from '#tools/cli/main.ts';
import { commandNames, createProgram } from '#tools/cli/program.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

let stdout = '';
let stderr = '';

beforeEach(() => {
  stdout = '';
  stderr = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    stdout += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    stderr += String(chunk);
    return true;
  });
  for (const name of ['COSECHA_STAGE', 'AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('--version prints the version of the package', async () => {
  expect(await main(['--version'], root)).toBe(0);
  expect({ stdout, stderr }).toEqual({ stdout: `${version}\n`, stderr: '' });
});

const noStage =
  'No stage is set. Use --stage <stage>, or set COSECHA_STAGE. The stage of `npm start` is local.';
const noRegion =
  'No region is set, and the profile "nope" has none or does not exist. Use --region <region>, or set AWS_REGION.';
const noDays =
  'The action movement needs its days. Use --movement-from <date> and --movement-to <date> in place of --action movement.';
const noDuration =
  "Option '--timeout <duration>' argument '5' is invalid. A duration is a number with s, min, h or d, such as 90s or 2h.";
const noKey =
  "Option '--idempotency-key <key>' argument 'pedido-ñ' is invalid. An idempotency key has 1 to 255 printable ASCII characters.";
const noId =
  "Command-argument value '' is invalid for argument 'extractionId'. No extractionId is given: the argument is empty.";
const noArguments =
  "Too many arguments for 'pause'. Expected 0 arguments but got 1: starts. Options begin with --, and are in the help.";

const wrongCommandLines: readonly (readonly [string, readonly string[]])[] = [
  ["Unknown option '--nonsense'", ['list', '--nonsense']],
  ["Unknown command 'lst'\n(Did you mean list?)", ['lst']],
  ["Required option '--from <table>' not specified", ['restore']],
  [`Name a command: ${commandNames(createProgram(async () => undefined, '')).join(', ')}.`, []],
  ['Name one extraction, or use --all-due.', ['reconcile']],
  ['Use --starts, --reads, or both.', ['pause', '--reason', 'maintenance']],
  [noId, ['get', '']],
  [noArguments, ['pause', 'starts', '--reason', 'maintenance']],
  [noKey, ['start', '--idempotency-key', 'pedido-ñ']],
  [noDays, ['--stage', 'local', 'start', '--entity', 'demo-bank', '--action', 'movement']],
  [noStage, ['list']],
  ['No region is set. Use --region <region>, or set AWS_REGION.', ['--stage', 'prod', 'list']],
  [noRegion, ['--stage', 'prod', '--profile', 'nope', 'list']],
  [noDuration, ['watch', id, '--timeout', '5']],
];

test.each(wrongCommandLines)('%j is a line, or JSON, with exit code 2', async (message, args) => {
  expect(await main(args, root)).toBe(2);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `${message}\n` });
  stderr = '';
  expect(await main([...args, '--json'], root)).toBe(2);
  expect({ stdout, error: JSON.parse(stderr) }).toEqual({ stdout: '', error: { error: message } });
});

/** CloudFormation's answer where there is no stack. */
const noStack = (response: ServerResponse): void => {
  response.statusCode = 400;
  response.end('<ErrorResponse><Error><Code>ValidationError</Code></Error></ErrorResponse>');
};
const { baseUrl: withoutStacks } = await httpServer(noStack);

const keys = 'aws_access_key_id = test\naws_secret_access_key = test\n';
const stubEnv = (variables: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
};
/** Sets these variables, and the profiles of the AWS CLI. */
const stubProfiles = (text: string, variables: Readonly<Record<string, string>>): void => {
  const config = join(temporaryDirectory(), 'config');
  writeFileSync(config, text);
  stubEnv({ ...variables, AWS_CONFIG_FILE: config });
};

test.each<[string, { readonly [name: string]: string }, readonly string[]]>([
  ['eu-west-1', { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' }, []],
  ['eu-west-2', { AWS_DEFAULT_REGION: 'eu-west-2' }, []],
  ['eu-west-2', { AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-west-2' }, []],
  ['eu-west-2', { AWS_DEFAULT_REGION: 'eu-west-2' }, ['--profile', 'named']],
  ['sa-east-1', { AWS_REGION: '', AWS_DEFAULT_REGION: '' }, ['--profile', 'named']],
  ['sa-east-1', { AWS_PROFILE: 'named' }, ['--region', '', '--profile', '']],
  ['eu-west-3', { AWS_REGION: 'eu-west-1' }, ['--region', 'eu-west-3']],
])('the region is %s with %j and %j, as with the AWS CLI', async (region, env, args) => {
  const profiles = `[default]\n${keys}[profile named]\nregion = sa-east-1\n${keys}`;
  stubProfiles(profiles, { ...env, AWS_ENDPOINT_URL: withoutStacks });
  expect(await main([...args, '--stage', 'prod', 'list'], root)).toBe(1);
  expect(stderr).toContain(`There is no stack Cosecha-prod in ${region}.`);
});

test('a profile that needs the code of an MFA device is asked for it once, and says so without a terminal', async () => {
  const serial = 'arn:aws:iam::111122223333:mfa/op';
  const codes: unknown[] = [];
  const { baseUrl } = await httpServer((response, { body }) => {
    const query = new URLSearchParams(body);
    if (query.get('Action') === 'AssumeRole') {
      codes.push([query.get('SerialNumber'), query.get('TokenCode')]);
      response.end(
        '<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>',
      );
      return;
    }
    noStack(response);
  });
  const admin = `role_arn = arn:aws:iam::111122223333:role/admin\nmfa_serial = ${serial}\nregion = eu-west-1\n`;
  const profiles = `[profile base]\n${keys}[profile admin]\nsource_profile = base\n${admin}`;
  stubProfiles(profiles, { AWS_ENDPOINT_URL: baseUrl });
  const args = ['--profile', 'admin', '--stage', 'prod', 'list'];
  const pipe = new PassThrough();
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(pipe as never);
  expect(await main(args, root)).toBe(1);
  expect(stderr).toContain('Run the command at a terminal, which asks for it.');

  const terminal = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  stdin.mockReturnValue(terminal as never);
  const running = main(args, root);
  await vi.waitUntil(() => stderr.includes(`the code of the MFA device ${serial}, which is not shown`));
  terminal.write('123456\r');
  expect(await running).toBe(1);
  expect(stderr).toContain('There is no stack Cosecha-prod in eu-west-1.');
  expect(codes).toEqual([[serial, '123456']]);
});

test('calls to AWS go through the proxy of HTTPS_PROXY, and those to this machine do not', async () => {
  const asked: string[] = [];
  const { baseUrl: proxy } = await rawServer((socket) => {
    socket.once('data', (data) => {
      asked.push(String(data).split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
  });
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  stubEnv({ ...credentials, HTTPS_PROXY: proxy, AWS_MAX_ATTEMPTS: '1' });
  const args = ['--region', 'eu-west-1', '--stage', 'prod', 'list'];
  expect(await main(args, root)).toBe(1);
  expect(asked).toEqual(['CONNECT cloudformation.eu-west-1.amazonaws.com:443 HTTP/1.1']);
  vi.stubEnv('AWS_ENDPOINT_URL', withoutStacks);
  expect(await main(args, root)).toBe(1);
  expect(stderr).toContain('There is no stack Cosecha-prod in eu-west-1.');
  expect(asked).toHaveLength(1);
});

test('a region that cannot be one is refused', async () => {
  expect(await main(['--region', 'eu west', '--stage', 'prod', 'list'], root)).toBe(2);
  expect(stderr).toBe('The region is not one of AWS. Check --region, AWS_REGION and the profile.\n');
});

test('help prints the commands, or the options of one', async () => {
  expect(await main(['help'], root)).toBe(0);
  expect(stdout).toContain('Usage: cosecha [options] [command]');
  stdout = '';
  expect(await main(['help', 'restore'], root)).toBe(0);
  expect(stdout).toContain('Usage: cosecha restore --from <table> [options]');
  expect(stdout).toContain('the restored table (required)');
});

/** What a command prints by console.log, as the library of completions does. */
const logged = async (...args: readonly string[]): Promise<string> => {
  let text = '';
  vi.spyOn(console, 'log').mockImplementation((line) => {
    text += `${line}\n`;
  });
  expect(await main(args, root)).toBe(0);
  return text;
};

test('a shell completes the commands, the options and the values that the program has', async () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await logged('complete', '--', ...words)).split('\n').map((line) => line.split('\t')[0] ?? '');
  expect(await complete('re')).toEqual(expect.arrayContaining(['reconcile', 'redrive', 'restore']));
  expect(await complete('watch', '--')).toEqual(expect.arrayContaining(['--until', '--timeout']));
  expect(await complete('list', '--status', 'R')).toContain('RUNNING');
});

const zsh = findProgram('zsh') === undefined ? [] : [['zsh', ['-f', '-c']] as const];

test.each([['bash', ['-c']] as const, ...zsh])(
  'the completion of %s asks the program, and can be sourced twice in a shell without settings',
  async (shell, args) => {
    const script = await logged('completion', shell);
    expect(script).toContain('cosecha complete --');
    const { status, stderr: errors } = spawnSync(shell, [...args, `set -e; ${script}\n${script}`], {
      encoding: 'utf8',
      env: { ...process.env, ZDOTDIR: temporaryDirectory() },
    });
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
  },
);

test("no bytecode is written to or read from the temporary directory, which the machine's users share", () => {
  const shared = temporaryDirectory();
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const cosecha = join(root, 'tools/cli/cosecha.js');
  const { stdout: printed } = spawnSync(process.execPath, [cosecha, '--version'], {
    encoding: 'utf8',
    env: { ...env, TMPDIR: shared },
  });
  expect({ printed, written: readdirSync(shared) }).toEqual({ printed: `${version}\n`, written: [] });
});

test('help ends quietly if its reader is gone', async () => {
  const child = spawn(process.execPath, [join(root, 'tools/cli/cosecha.js'), 'help']);
  // It writes only after it has loaded, and by then nobody reads.
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (part) => {
    errors += part;
  });
  const [code] = await once(child, 'close');
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
});

/** Parses a command line. Returns `ran`, or commander's code of the error. */
const parse = async (...args: readonly string[]): Promise<string> => {
  let result = 'nothing';
  const program = createProgram(async () => {
    result = 'ran';
  }, '1.2.3');
  try {
    await program.parseAsync(args, { from: 'user' });
    return result;
  } catch (error) {
    if (error instanceof CommanderError) return error.code;
    throw error;
  }
};

test.each([
  ['commander.invalidArgument', 'get', 'not-a-uuid'],
  ['commander.missingArgument', 'explain'],
  ['commander.invalidArgument', 'deliver', 'task-1', '--status', 'DONE'],
  ['commander.invalidArgument', 'deliver', 'x'.repeat(101)],
  ['commander.conflictingOption', 'list', '--open', '--due'],
  ['commander.invalidArgument', 'list', '--status', 'DONE'],
  ['commander.invalidArgument', 'list', '--since', 'yesterday'],
  ['commander.invalidArgument', 'watch', id, '--until', 'later'],
  ['commander.invalidArgument', 'console', '--port', '65536'],
])('%s is the error of %s %s %s %s', async (code, ...args) => {
  expect(await parse(...args)).toBe(code);
});

test('an empty argument, as of a variable that is not set, is refused by each command and option that takes one', async () => {
  const { commands } = createProgram(async () => undefined, '1.2.3');
  const lines = commands
    .filter((command) => !['help', 'completion', 'complete'].includes(command.name()))
    .flatMap((command) => [
      ...command.registeredArguments.map(() => [command.name(), '']),
      ...command.options
        .filter(({ required }) => required)
        .map(({ long }) => [command.name(), String(long), '']),
    ]);
  expect(lines.length).toBeGreaterThan(50);
  for (const line of [...lines, ['--stack', '', 'list']]) {
    expect([line, await parse(...line)]).toEqual([line, 'commander.invalidArgument']);
  }
});

const helpOf = (name: string): string => {
  let text = '';
  const program = createProgram(async () => undefined, '1.2.3');
  const command = program.commands.find((one) => one.name() === name) ?? program;
  const writeOut = (part: string): void => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  return text;
};

const names = commandNames(createProgram(async () => undefined, '1.2.3'));

test.each(['', ...names])('every example in the help of "%s" is accepted', async (name) => {
  const [, lines = ''] = helpOf(name).split('\nExamples:\n');
  const examples = lines.split('\n').filter((line) => line !== '');
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    const [program, ...args] = example.replace(/ < .*/, '').trim().split(' ');
    expect(program).toBe('cosecha');
    // Commands of the program itself print and run nothing.
    const own = ['help', 'completion'].includes(name) || args.includes('--help');
    if (!own) expect(await parse(...args), example).toBe('ran');
  }
});
