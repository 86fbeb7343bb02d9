import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { settingNames } from '../../../infra/settings/settings.ts';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { blocksIn, pages, read, shellBlock } from './pages.ts';

/** The commands of a block, without comments. A loop is one command, and so is what goes on in the next line. */
const commandsIn = (block: string): readonly string[] =>
  block
    .replaceAll('\\\n', '')
    .replace(/(&&|\|)\n/g, '$1 ')
    .replace(/^( *)(?:for|while) .*[\s\S]*?^\1done$/gm, (loop) => loop.replaceAll('\n', '; '))
    .split('\n')
    .map((line) => line.replace(/(?:^| +)#.*$/, '').trim())
    .filter((line) => line !== '');

const allBlocks = pages.flatMap((page) => blocksIn(read(page)).map((block) => ({ page, block })));

test('no page passes a setting to a deployment, where it would win over those of the stage', () => {
  const passing = allBlocks
    .flatMap(({ page, block }) => commandsIn(block).map((command) => `${page}: ${command}`))
    .filter((command) => /\b(deploy|diff)\b/.test(command))
    .filter((command) =>
      settingNames.some((name) => new RegExp(`(-c|--context)[ =]?${name}=`).test(command)),
    );
  expect(passing).toEqual([]);
  expect(
    allBlocks.flatMap(({ block }) => commandsIn(block).filter((line) => /\bdeploy\b/.test(line))).length,
  ).toBeGreaterThan(2);
});

/** What destroys something, or lets go on what an earlier step has to prove first. */
const destroys =
  /\b(?:delete|purge|terminate|stop|schedule)-[a-z-]+|--destroy\b|\bdestroy\b|--force\b|--no-[a-z-]*protection\b|--remove-from-/;
const resumes =
  /\b(?:(?:enable|cancel|redrive)-[a-z-]+|restore --from (?!.*--dry-run)|resume\b|redrive\b|reconcile --all-due)|\bcdk deploy\b|npm run deploy\b/;
const proves = /\b(?:sha256sum --check|gpg --verify)\b/;
const erases = /\bcosecha (?:[^|;&]* )?(?:erase|pause|end|cancel)(?![\w-])/;
const isAlone = (block: string): boolean => {
  const commands = commandsIn(block);
  return (
    commands.length === 1 ||
    !commands.some((line) => [destroys, resumes, erases, proves].some((one) => one.test(line)))
  );
};

test('a command that destroys or resumes stands in a block of its own, as a pasted block runs whatever the line before has found', () => {
  expect(allBlocks.filter(({ block }) => !isAlone(block))).toEqual([]);
});

test.each([
  ['cosecha doctor --provider\naws events enable-rule --name r\n', false],
  [
    'cosecha list --open\nfor X in a b; do\n  aws stepfunctions stop-execution --execution-arn $X\ndone\n',
    false,
  ],
  ['npm run diff -- --stage prod\nnpm run deploy -- --stage prod\n', false],
  ['sha256sum --check SHA256SUMS\nnpm install ./a.tgz\n', false],
  ['# only when nothing is open\naws cloudformation delete-stack \\\n  --stack-name s\n', true],
  ['for X in a b; do\n  aws s3api delete-bucket --bucket $X\ndone\n', true],
  ['cosecha doctor\ncosecha list --open    # before you delete-stack\n', true],
])('of the block %j that is so: %s', (block, alone) => {
  expect(isAlone(block)).toBe(alone);
});

/** What runs until Ctrl-C, and so takes the lines that are pasted behind it as its input. */
const serves =
  /(?<!echo ['"].*)\bnpm (?:start|run sandbox)\b(?!.*--once)|\.listen\(|\bcosecha (?:[^|;&]* )?(?:console|listen)\b(?!.*--replay)/;

test('a command that runs until Ctrl-C is the last of its block', () => {
  const serving = allBlocks.filter(({ block }) => commandsIn(block).some((line) => serves.test(line)));
  expect(serving.length).toBeGreaterThan(5);
  expect(
    serving.filter(({ block }) =>
      commandsIn(block)
        .slice(0, -1)
        .some((line) => serves.test(line)),
    ),
  ).toEqual([]);
});

test('a block uses a variable, a command and a file only after the page has set or named it', () => {
  for (const page of pages) {
    const text = read(page);
    for (const { 2: block = '', index } of text.matchAll(shellBlock)) {
      for (const { 1: name, index: at } of block.matchAll(/\$\{?([A-Z][A-Z_]+)|^ *cosecha /gm)) {
        const before = text.slice(0, text.indexOf(block, index) + at);
        const set = name === undefined ? /^cosecha\(\) /m : `(^|\\s)${name}=|\\bfor ${name} in|\`${name}\``;
        expect([page, name, new RegExp(set, 'm').test(before)]).toEqual([page, name, true]);
      }
    }
    for (const { 1: name = '', index } of text.matchAll(/\bfile:\/\/([a-z][\w.-]*)/g)) {
      expect([page, name, text.slice(0, index).includes(name)]).toEqual([page, name, true]);
    }
  }
});

test('the Python of docs/stream.md defines each name that it uses, and reads files that are there', async () => {
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(read('docs/stream.md')) ?? [];
  // In place of the two packages, which not every machine has.
  const packages = `
import sys, types
class Validator:
    def __init__(self, schema, registry): self.schema = schema
    def validate(self, event): print(event["kind"], len(self.schema) > 0)
class Registry:
    def __rmatmul__(self, resources): return resources
class Resource:
    from_contents = staticmethod(lambda contents: contents)
sys.modules["jsonschema"] = types.SimpleNamespace(Draft202012Validator=Validator)
sys.modules["referencing"] = types.SimpleNamespace(Registry=Registry, Resource=Resource)
`;
  const cwd = new URL('../../../', import.meta.url);
  const { stdout } = await promisify(execFile)('python3', ['-c', packages + program], { cwd });
  expect(stdout).toBe('settled True\n');
});

test('the lines of docs/api.md authorize a new consent in the sandbox of npm start, as the user would', async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const root = temporaryDirectory();
  mkdirSync(join(root, '.cosecha'));
  const running = { sandboxControlUrl: sandbox.controlUrl };
  writeFileSync(join(root, '.cosecha', 'running.json'), JSON.stringify(running));
  const created = await fetch(`${sandbox.baseUrl}/api/v1/token/otp/create`, {
    method: 'POST',
    headers: { 'x-api-key': 'sandbox-api-key', 'content-type': 'application/json' },
    body: JSON.stringify({
      products: ['movement'],
      user: { username: '11.111.111-1' },
      clientId: sandbox.clientId,
      widgetConfigId: 'sandbox-widget',
      locale: 'en',
    }),
  });
  const { data } = (await created.json()) as { readonly data: { readonly consentId: string } };
  const commands = blocksIn(read('docs/api.md')).flatMap(commandsIn);
  const served = commands.find((line) => line.startsWith('served()')) ?? '';
  const authorize = commands.find((line) => line.includes('/authorize')) ?? '';
  const script = `CONSENT_ID=${data.consentId}\n${served}\n${authorize}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: root });
  expect(JSON.parse(stdout)).toMatchObject({ consentId: data.consentId, subStatus: 'ACTIVE' });
});

test.each([
  ['an object', { Records: [] }],
  ['a text', '{"Records":[]}'],
])(
  'the line of docs/stream.md takes the batch from what Lambda abandoned, also as %s',
  async (_, payload) => {
    const commands = blocksIn(read('docs/stream.md')).flatMap(commandsIn);
    const [, unwrap = ''] = commands.find((line) => line.startsWith('aws s3 cp'))?.split(' - | ') ?? [];
    const script = `echo '${JSON.stringify({ payload })}' | ${unwrap.replace(/ > .*/, '')}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script]);
    expect(stdout).toBe('{"Records":[]}\n');
  },
);
