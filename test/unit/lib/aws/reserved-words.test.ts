import { globSync, readFileSync } from 'node:fs';
import { type Token, tokenizer } from 'acorn';
import { expect, test } from 'vitest';
import { reservedWords } from '../../../support/aws/dynamodb-reserved-words.ts';

const root = new URL('../../../../', import.meta.url);

/** What only an expression has: a value or a name with a placeholder, or one of these functions. */
const isExpression = (text: string): boolean =>
  /(=|<|>|ADD \w+) ?[:#]|(attribute_exists|attribute_not_exists|if_not_exists|begins_with)\(|^(SET|REMOVE|ADD) \w/.test(
    text,
  );

const syntax =
  /^(SET|REMOVE|ADD|DELETE|AND|OR|NOT|IN|BETWEEN|attribute_\w+|if_not_exists|begins_with|contains|size)$/;

/** The names of attributes in an expression that have no placeholder. */
const plainNames = (text: string): readonly string[] =>
  (text.match(/(?<![\w#:$])[A-Za-z_]\w*/g) ?? []).filter((word) => !syntax.test(word));

type Found = { readonly file: string; readonly text: string };

/** Every text of a file that is, or may be a part of, an expression. Types consist of the same tokens as JavaScript. */
const expressionsIn = (file: string): readonly Found[] => {
  const code = readFileSync(new URL(file, root), 'utf8');
  const tokens = [...tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })];
  const textOf = ({ start, end }: Token): string => code.slice(start, end);
  return tokens.flatMap((token, at) => {
    if (token.type.label !== 'string' && token.type.label !== 'template') return [];
    const text = token.type.label === 'string' ? textOf(token).slice(1, -1) : textOf(token);
    const isNamed = tokens
      .slice(Math.max(0, at - 2), at)
      .map(textOf)
      .join('')
      .endsWith('Expression:');
    return isNamed || isExpression(text) ? [{ file, text }] : [];
  });
};

const files = globSync('{lib,tools,functions,infra}/**/*.ts', { cwd: root }).filter((file) =>
  readFileSync(new URL(file, root), 'utf8').includes('Expression'),
);

// DynamoDB refuses them. Tests in memory refuse them too, but only in the expressions that they execute.
test('no expression of DynamoDB has a reserved word as the name of an attribute', () => {
  const found = files.flatMap(expressionsIn);
  expect(found.length).toBeGreaterThan(40);
  const refused = found.filter(({ text }) =>
    plainNames(text).some((name) => reservedWords.has(name.toLowerCase())),
  );
  expect(refused).toEqual([]);
});

test('a reserved word is found in each kind of expression', () => {
  const planted = [
    'SET searchedAt = :at REMOVE reference',
    'status = :status',
    'attribute_exists(name)',
    'ADD call :one',
  ];
  for (const text of planted) {
    expect([text, isExpression(text)]).toEqual([text, true]);
    expect(plainNames(text).filter((name) => reservedWords.has(name))).toHaveLength(1);
  }
  expect(plainNames('SET #call = :status, version = if_not_exists(version, :one)')).toEqual([
    'version',
    'version',
  ]);
});
