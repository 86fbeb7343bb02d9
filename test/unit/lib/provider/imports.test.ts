import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Every module that a file names, types included: what a team that takes the folder has to take along. */
const named = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name = '']) => name);

const walk = (file: string, files = new Set<string>(), modules = new Set<string>()) => {
  if (files.has(file)) return { files, modules };
  files.add(file);
  for (const name of named(file)) {
    if (!name.startsWith('.')) modules.add(name);
    else walk(join(dirname(file), name), files, modules);
  }
  return { files, modules };
};

const { files, modules } = walk(join(root, 'lib/provider/index.ts'));

test('the client reaches no AWS, and nothing but Node and valibot', () => {
  const builtin = new Set(builtinModules.map((name) => `node:${name}`));
  expect([...modules].filter((name) => !builtin.has(name))).toEqual(['valibot']);
});

test('the client leaves its folder for nothing', () => {
  expect([...files].filter((file) => !existsSync(file))).toEqual([]);
  const outside = [...files]
    .map((file) => relative(root, file))
    .filter((file) => !file.startsWith('lib/provider/'));
  expect(outside).toEqual([]);
});

test.each(['assumptions.ts', 'encryption-scheme.ts', 'tasks/task-id.ts'])(
  'the webhook takes %s along, which reaches Node alone: its bundle must stay small',
  (name) => {
    const reached = walk(join(root, 'lib/provider', name));
    expect([...reached.modules].filter((module) => !module.startsWith('node:'))).toEqual([]);
  },
);
