import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemUri } from '#lib/http/problem.ts';
import { findPython } from '../../tools/local/emulator/find-python.ts';
import { preparePython } from '../../tools/local/emulator/python-environment.ts';
import { repository, workDirectory } from '../../tools/local/paths.ts';
import { runCommand } from '../../tools/local/run-command.ts';
import { describeIfInstalled, findProgram } from '../support/programs/describe-if-installed.ts';
import { httpServer } from '../support/programs/stub-servers.ts';
import { operationOf, operations } from '../unit/docs/openapi-document.ts';
import { read } from '../unit/docs/pages.ts';
import { hasJava } from './describe-with-java.ts';
import { prepareJars } from './java.ts';

const folder = join(import.meta.dirname, 'generated-clients');

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-clients-'));
afterAll(() => rmSync(workspace, { recursive: true }));

/** A directory with docs/openapi.yaml, in which the command of a language is run. */
const directoryFor = (language: string): string => {
  const directory = join(workspace, language);
  mkdirSync(directory);
  copyFileSync(join(repository, 'docs', 'openapi.yaml'), join(directory, 'openapi.yaml'));
  return directory;
};

/** The generator of a language with its version, and the arguments of its command, as docs/api.md has them. */
const commandFor = (language: string) => {
  const row = new RegExp(`^\\| ${language} \\| ([\\w-]+ [\\d.]+)[^|]* \\| \`\\S+ (.*)\` \\|$`, 'm');
  const [, generator, command] = row.exec(read('docs/api.md')) ?? [];
  if (command === undefined) throw new Error(`docs/api.md has no command for ${language}.`);
  return { generator, args: command.split(' ') };
};

type Run = { readonly cwd: string; readonly env?: Readonly<Record<string, string>> };

/** The output of a command, which must succeed. */
const run = async (command: string, args: string[], { cwd, env }: Run): Promise<string> => {
  const { code, output } = await runCommand(command, args, { cwd, env: { ...process.env, ...env } });
  if (code !== 0) throw new Error(`${command} failed.\n${output}`);
  return output;
};

type Extraction = Readonly<Record<string, unknown>> & { readonly extractionId: string };

/** Every extraction in an example of an answer, each with an id of its own. */
const documented = (): readonly Extraction[] =>
  operations
    .filter(([routeKey]) => routeKey.includes(' /extractions'))
    .flatMap(([, { responses }]) => [responses['200'], responses['202']])
    .flatMap((response) => Object.values(response?.content?.['application/json']?.examples ?? {}))
    .flatMap(({ value }) => {
      const { extractions } = value as { readonly extractions?: unknown };
      return (Array.isArray(extractions) ? extractions : [value]) as readonly Extraction[];
    })
    .filter((value) => 'extractionId' in value)
    .map((value, index) => ({
      ...value,
      extractionId: value.extractionId.replace(/.$/, String(index)),
    }));

/** What the service answers with this status, and what API Gateway does. */
const errorBodies: Readonly<Record<string, (status: number) => object>> = {
  service: (status) => ({ type: problemUri('internal'), title: 'Something.', status, detail: 'More.' }),
  gateway: () => ({ message: 'Service Unavailable' }),
};

/** Each error of the route of one extraction, with each of both bodies. Each is answered to an id of its own. */
const errors = Object.keys(operationOf('GET /extractions/{extractionId}').responses)
  .filter((status) => !status.startsWith('2'))
  .flatMap((status) =>
    Object.keys(errorBodies).map((source, index) => ({
      status: Number(status),
      source,
      id: `00000${status}-0000-4000-8000-00000000000${index}`,
    })),
  );

/** As a later version may answer: each closed vocabulary has another value, and there is another field. */
const later = (extraction: Extraction): Extraction => ({
  ...extraction,
  extractionId: extraction.extractionId.replace(/^.{8}/, 'ffffffff'),
  status: 'LATER_STATUS',
  advice: 'later-advice',
  settledBy: 'later-process',
  ...('product' in extraction ? { product: 'later-product', variant: 'v9' } : {}),
  laterField: { is: 'new' },
});

const answers = [...documented(), ...documented().map(later)];
const ids = [...answers.map(({ extractionId }) => extractionId), ...errors.map(({ id }) => id)];
let api: Awaited<ReturnType<typeof httpServer>>;
beforeAll(async () => {
  api = await httpServer((response, { url }) => {
    const failed = errors.find(({ id }) => url === `/extractions/${id}`);
    if (failed !== undefined) {
      const type = failed.source === 'service' ? 'application/problem+json' : 'application/json';
      const body = JSON.stringify(errorBodies[failed.source]?.(failed.status));
      response.writeHead(failed.status, { 'content-type': type }).end(body);
      return;
    }
    const answer = answers.find(({ extractionId }) => url === `/extractions/${extractionId}`);
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(answer === undefined ? 404 : 200, headers).end(JSON.stringify(answer));
  });
});

/** With every time in one form, as languages write them differently. */
const withTimes = (json: string): Extraction =>
  JSON.parse(json, (_key, value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value,
  );

/** Expects that the client read each answer, as its own method's, with every field that it knows, and each error with its fields. */
const expectRead = (output: string, isKnown: (field: string) => boolean = () => true): void => {
  const lines = [...output.matchAll(/^(?:cosecha\.)?(\w+)Extraction (\{.*\})$/gm)];
  expect(lines.map(([, method]) => method?.toLowerCase())).toEqual(answers.map(({ method }) => method));
  lines.forEach(([, , json = ''], index) => {
    const known = Object.entries(answers[index] ?? {}).filter(([field]) => isKnown(field));
    expect(withTimes(json)).toMatchObject(withTimes(JSON.stringify(Object.fromEntries(known))));
  });
  const failed = [...output.matchAll(/^Error (\d+) (.*)$/gm)];
  expect(failed.map(([, status, json = '']) => [Number(status), JSON.parse(json) as unknown])).toEqual(
    errors.map(({ status, source }) => [status, errorBodies[source]?.(status)]),
  );
};

describeIfInstalled(
  hasJava,
  {
    title: 'a generated client in Java',
    howToInstall:
      'a generated client in Java: install a JDK 17 or later and Maven, e.g. apt-get install -y default-jdk-headless maven',
  },
  () => {
    test('compiles, and reads extractions of this and of a later version', async () => {
      const cwd = directoryFor('java');
      const { generator, args } = commandFor('Java');
      const jars = await prepareJars(folder);
      const names = readdirSync(jars);
      const isGenerator = (name: string): boolean => name.startsWith('openapi-generator-cli-');
      expect(names.filter(isGenerator)).toEqual([`${generator?.replace(' ', '-cli-')}.jar`]);
      await run('java', ['-jar', join(jars, names.find(isGenerator) ?? ''), ...args], { cwd });
      const sources = readdirSync(join(cwd, 'client', 'src', 'main'), { recursive: true, encoding: 'utf8' });
      const files = sources
        .filter((name) => name.endsWith('.java'))
        .map((name) => join('client', 'src', 'main', name));
      writeFileSync(join(cwd, 'files'), [...files, join(folder, 'Read.java')].join('\n'));
      // Without the generator, which has other versions of the same libraries in its jar.
      const libraries = names.filter((name) => !isGenerator(name)).map((name) => join(jars, name));
      const classPath = ['classes', ...libraries].join(delimiter);
      await run('javac', ['-proc:none', '-d', 'classes', '-cp', classPath, '@files'], { cwd });
      const reading = ['-cp', classPath, 'Read', api.baseUrl, ...ids];
      const output = await run('java', reading, { cwd });
      expectRead(output);
    });
  },
);

describeIfInstalled(
  findProgram('go') !== undefined,
  {
    title: 'a generated client in Go',
    howToInstall: 'a generated client in Go: install Go 1.21 or later, e.g. apt-get install -y golang-go',
  },
  () => {
    test('compiles, and reads extractions of this and of a later version', async () => {
      const cwd = directoryFor('go');
      for (const file of ['go.mod', 'go.sum', 'main.go']) copyFileSync(join(folder, file), join(cwd, file));
      const { generator, args } = commandFor('Go');
      expect(readFileSync(join(folder, 'go.mod'), 'utf8')).toContain(
        `/v2 ${generator?.replace(/^.* /, 'v')} `,
      );
      // Go gets the toolchain that go.mod names, if it is older itself, and verifies that and all modules.
      const env = { GOTOOLCHAIN: 'auto', GOFLAGS: '-mod=readonly' };
      await run('go', ['tool', 'oapi-codegen', ...args], { cwd, env });
      mkdirSync(join(cwd, 'cosecha'));
      copyFileSync(join(cwd, 'cosecha.go'), join(cwd, 'cosecha', 'cosecha.go'));
      rmSync(join(cwd, 'cosecha.go'));
      const output = await run('go', ['run', '.', api.baseUrl, ...ids], { cwd, env });
      // It takes another field, and does not keep it.
      expectRead(output, (field) => field !== 'laterField');
    });
  },
);

describeIfInstalled(
  hasJava && findProgram('cargo') !== undefined,
  {
    title: 'a generated client in Rust',
    howToInstall:
      'a generated client in Rust: install Rust 1.85 or later, e.g. apt-get install -y cargo, and what the one in Java needs',
  },
  () => {
    test('compiles, and reads extractions of this and of a later version', async () => {
      const cwd = directoryFor('rust');
      const { generator, args } = commandFor('Rust');
      const jars = await prepareJars(folder);
      const jar = `${generator?.replace(' ', '-cli-')}.jar`;
      await run('java', ['-jar', join(jars, jar), ...args], { cwd });
      cpSync(join(folder, 'rust'), join(cwd, 'rust'), { recursive: true });
      const lockfile = join(cwd, 'rust', 'Cargo.lock');
      // The generated client has the version of the document.
      const version = /^version = .*$/m.exec(readFileSync(join(cwd, 'client', 'Cargo.toml'), 'utf8'))?.[0];
      const locked = readFileSync(lockfile, 'utf8');
      writeFileSync(lockfile, locked.replace(/(?<=^name = "cosecha"\n).*$/m, version ?? ''));
      const reading = ['run', '--locked', '--quiet', '--', api.baseUrl, ...ids];
      const env = { CARGO_TARGET_DIR: join(workDirectory, 'rust') };
      const output = await run('cargo', reading, { cwd: join(cwd, 'rust'), env });
      // It takes another field, and does not keep it.
      expectRead(output, (field) => field !== 'laterField');
    });
  },
);

describeIfInstalled(
  await findPython().then(
    ({ version }) => Number(version.split('.')[1]) >= 11,
    () => false,
  ),
  {
    title: 'a generated client in Python',
    howToInstall:
      'a generated client in Python: install Python 3.11 or later, e.g. apt-get install -y python3-venv',
  },
  () => {
    test('runs, and reads extractions of this and of a later version', async () => {
      const cwd = directoryFor('python');
      const { generator, args } = commandFor('Python');
      const requirements = join(folder, 'requirements.txt');
      expect(readFileSync(requirements, 'utf8')).toContain(`\n${generator?.replace(' ', '==')} \\\n`);
      const python = await preparePython({ contents: { name: 'openapi-python-client', requirements } });
      // The generator calls ruff.
      const PATH = [dirname(python), process.env.PATH].join(delimiter);
      await run(python, ['-m', 'openapi_python_client', ...args], { cwd, env: { PATH } });
      const env = { PYTHONPATH: join(cwd, 'cosecha-client') };
      const reading = [join(folder, 'read.py'), api.baseUrl, ...ids];
      const output = await run(python, reading, { cwd, env });
      expectRead(output);
    });
  },
);
