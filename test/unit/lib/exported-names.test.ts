import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../../../tools/local/paths.ts';

const declaration = /^export (?:const|type|interface|class|function) (\w+)/gm;

/** These are published on their own: the same words name what a consumer sees. */
const published = /^lib\/(client|downstream)\//;

test('one exported name is one thing in the whole of lib', () => {
  const files = globSync('lib/**/*.ts', { cwd: repository }).filter((file) => !published.test(file));
  const named = files.flatMap((file) =>
    [...readFileSync(join(repository, file), 'utf8').matchAll(declaration)].map(([, name = '']) => ({
      name,
      file,
    })),
  );
  expect(named.length).toBeGreaterThan(400);
  const twice = [...Map.groupBy(named, ({ name }) => name)].filter(([, of]) => of.length > 1);
  expect(twice.map(([name, of]) => `${name}: ${of.map(({ file }) => file).join(', ')}`)).toEqual([]);
});
