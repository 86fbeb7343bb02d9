import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { changes } from '#tools/acceptance/check-out-version.ts';
import { CodeNotFound, replaceCode } from '#tools/acceptance/replace-code.ts';
import { repository } from '#tools/local/paths.ts';
import { plantedFaults } from '../../../simulation/planted-faults/all-faults.ts';

const find = 'if (tries >= max) return stop(tries);';
const replace = 'if (tries > max) return stop(tries);';

test.each([
  ['as it stands', `begin();\n${find}\nend();`, `begin();\n${replace}\nend();`],
  ['on other lines', 'if (\n  tries >= max\n) return stop(\n  tries,\n);', replace],
  [
    'beside a comment',
    'if (tries >= max) return stop(tries /* all */); // At last.',
    `${replace} // At last.`,
  ],
  [
    'after a name of it was changed',
    'if (attempts >= max) return stop(attempts);',
    'if (attempts > max) return stop(attempts);',
  ],
  [
    'after two of its names were changed',
    'if (attempts >= most) return end(attempts);',
    'if (attempts > most) return end(attempts);',
  ],
])('code is replaced %s', (_, source, expected) => {
  expect(replaceCode(source, find, replace)).toBe(expected);
});

test.each([
  ['in other code', 'if (tries > max) return stop(tries);'],
  ['twice', `${find}\n${find}`],
  ['if two names have become one', 'if (tries >= tries) return stop(tries);'],
  ['if one name has become two', 'if (attempts >= max) return stop(others);'],
  ['in a text', `log('${find}');`],
])('it is not found %s', (_, source) => {
  expect(() => replaceCode(source, find, replace)).toThrow(CodeNotFound);
});

const file = (path: string): string => readFileSync(new URL(path, `file://${repository}/`), 'utf8');

test.each([
  ...plantedFaults.map(({ name, ...fault }) => [name, fault.file, fault.find, fault.replace]),
  ...changes.map(([path, ...change]) => [`a later version of ${path}`, path, ...change]),
])('%s fits its file', (_, path, code, other) => {
  const source = file(path);
  expect(replaceCode(source, code, other)).not.toBe(source);
});
