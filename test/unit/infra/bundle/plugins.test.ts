import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { bundleOptions } from '../../../../infra/bundle/bundle-functions.ts';
import { dropUnusedErrors } from '../../../../infra/bundle/drop-unused-errors.ts';
import { useLambdaCredentials } from '../../../../infra/bundle/use-lambda-credentials.ts';

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-plugins-'));
afterAll(() => rmSync(workspace, { recursive: true }));

/** Bundles `index.js` of a directory with these files, below `node_modules` or not. */
const bundle = async (files: Readonly<Record<string, string>>, plugin: Plugin): Promise<string> => {
  const directory = mkdtempSync(join(workspace, 'app-'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const entryPoints = [join(directory, 'index.js')];
  const { outputFiles } = await build({
    ...bundleOptions,
    minify: false,
    entryPoints,
    plugins: [plugin],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
};

const credentials = '@aws-sdk/credential-provider-node/dist-es/index.js';

test('a build in which nothing imports the credential chain fails', async () => {
  const nothing = { 'index.js': `console.log('nothing of the SDK');` };
  await expect(bundle(nothing, useLambdaCredentials())).rejects.toThrow(
    'Nothing imports the credential chain',
  );
});

test.each([
  ['imported', "import { fromSSO } from '<module>';console.log(fromSSO);"],
  ['read from a namespace', "import * as all from '<module>';console.log(all.fromSSO);"],
  ['re-exported', "export { fromSSO } from '<module>';"],
])('another name of the chain fails the build when it is %s', async (_how, source) => {
  const files = {
    'index.js': `${source.replace('<module>', `./node_modules/${credentials}`)}`,
    [`node_modules/${credentials}`]: 'export const fromSSO = 1;',
  };
  await expect(bundle(files, useLambdaCredentials())).rejects.toThrow('fromSSO');
});

const client = 'node_modules/@aws-sdk/client-any';

test('a build without any AWS client fails', async () => {
  await expect(bundle({ 'index.js': 'console.log(1);' }, dropUnusedErrors())).rejects.toThrow(/no .*client/i);
});

const errorClass = (name: string) =>
  `export class ${name} extends __BaseException {\n    name = "${name}";\n}\n`;
const registered = (name: string) =>
  `export var ${name}$ = [-3, n0, "${name}", { [_e]: _c }, [], []];\nn0_registry.registerError(${name}$, ${name});\n`;

/** A client with two errors, as they are generated. */
const withErrors = (schemas: string, index = 'export * from "./models/errors";') => ({
  'index.js': `import { One } from './${client}/dist-es/index.js';console.log(One);`,
  [`${client}/package.json`]: '{"sideEffects":false}',
  'node_modules/@smithy/core/schema.js': 'export const TypeRegistry = globalThis.registry;',
  [`${client}/dist-es/index.js`]: `${index}\nexport * from "./schemas/schemas_0";\n`,
  [`${client}/dist-es/models/errors.js`]: `import { Base as __BaseException } from "./Base";\n${errorClass('One')}${errorClass('Two')}`,
  [`${client}/dist-es/models/Base.js`]: 'export class Base extends Error {}',
  [`${client}/dist-es/schemas/schemas_0.js`]: `const _c = "client";\nconst _e = "error";\nconst n0 = "any";\nimport { One, Two } from "../models/errors";\nconst n0_registry = globalThis.registry;\n${schemas}`,
});

const notRegistered = 'are not registered one by one';

test.each([
  ['registers only one of its errors', withErrors(registered('One')), notRegistered],
  [
    'registers one in another form',
    withErrors(`${registered('One')}  n0_registry.registerError(Two$, Two);`),
    notRegistered,
  ],
  ['registers none', withErrors('export const nothing = 1;'), notRegistered],
  [
    'exports them in another form',
    withErrors(registered('One') + registered('Two'), 'export { One } from "./models/errors";'),
    'does not export all of its errors',
  ],
])('a client that %s fails the build', async (_what, files, reason) => {
  await expect(bundle(files, dropUnusedErrors())).rejects.toThrow(reason);
});
