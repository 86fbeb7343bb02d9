import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { reservedWords } from '../aws/dynamodb-reserved-words.ts';

/** One item, unmarshalled. */
export type Item = Readonly<Record<string, unknown>>;

/** As DynamoDB answers. */
class InvalidExpression extends Error {
  override readonly name = 'ValidationException';
}

export type ExpressionContext = {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue> | undefined;
};

const tokens = (text: string): string[] => text.match(/<=|>=|<>|[(),=]|[#:]?\w+|\S/g) ?? [];

/** Values of two types do not compare, and neither does an attribute that is absent. */
const ordered = (test: (one: string, other: string) => boolean) => (one: unknown, other: unknown) =>
  typeof one === typeof other && test(one as string, other as string);
const compare = {
  '<': ordered((one, other) => one < other),
  '<=': ordered((one, other) => one <= other),
  '>': ordered((one, other) => one > other),
  '>=': ordered((one, other) => one >= other),
};

/**
 * Interprets the part of DynamoDB's expression language that `lib/aws` uses: comparisons, BETWEEN, IN, attribute_exists,
 * attribute_not_exists, attribute_type, AND, OR, NOT, brackets, SET with `if_not_exists` and `+`, ADD and REMOVE. Like DynamoDB it refuses unused names and
 * values, and an empty map of values.
 */
export const interpreter = (context: ExpressionContext) => {
  const values = unmarshall(context.ExpressionAttributeValues ?? {});
  if (context.ExpressionAttributeValues !== undefined && Object.keys(values).length === 0) {
    throw new InvalidExpression('There are no values.');
  }
  const used = new Set<string>();

  const nameOf = (token: string): string => {
    if (token.startsWith('#')) {
      used.add(token);
      const name = context.ExpressionAttributeNames?.[token];
      if (name === undefined) throw new InvalidExpression(`No name for ${token}.`);
      return name;
    }
    if (!/^\w+$/.test(token) || reservedWords.has(token.toLowerCase()))
      throw new InvalidExpression(`Not a name: ${token}.`);
    return token;
  };
  const literal = (token: string): unknown => {
    used.add(token);
    if (!(token in values)) throw new InvalidExpression(`No value for ${token}.`);
    return values[token];
  };

  const reader = (text: string) => {
    const rest = tokens(text);
    const next = (): string => rest.shift() ?? '';
    const expect = (token: string): void => {
      const got = next();
      if (got !== token) throw new InvalidExpression(`Expected ${token}, got ${got}.`);
    };
    const list = <T>(read: () => T): T[] => {
      const items = [read()];
      while (rest[0] === ',') {
        next();
        items.push(read());
      }
      return items;
    };
    return { rest, next, expect, list };
  };

  const condition = (text: string): ((item: Item) => boolean) => {
    const { rest, next, expect, list } = reader(text);
    type Test = (item: Item) => boolean;

    const one = (): Test => {
      const token = next();
      if (token === '(') {
        const inner = any();
        expect(')');
        return inner;
      }
      if (token === 'attribute_exists' || token === 'attribute_not_exists') {
        expect('(');
        const name = nameOf(next());
        expect(')');
        return (item) => (item[name] !== undefined) === (token === 'attribute_exists');
      }
      if (token === 'NOT') {
        const inner = one();
        return (item) => !inner(item);
      }
      if (token === 'attribute_type') {
        expect('(');
        const name = nameOf(next());
        expect(',');
        const type = literal(next());
        expect(')');
        return (item) =>
          item[name] !== undefined && marshall({ of: item[name] }).of?.[type as 'N'] !== undefined;
      }
      const name = nameOf(token);
      const operator = next();
      if (operator === 'BETWEEN') {
        const from = literal(next());
        expect('AND');
        const to = literal(next());
        return (item) => compare['>='](item[name], from) && compare['<='](item[name], to);
      }
      if (operator === 'IN') {
        expect('(');
        const options = list(() => literal(next()));
        expect(')');
        return (item) => options.includes(item[name]);
      }
      const value = literal(next());
      if (operator === '=') return (item) => isDeepStrictEqual(item[name], value);
      if (operator === '<>') return (item) => item[name] !== value;
      const holds = compare[operator as keyof typeof compare];
      if (holds === undefined) throw new InvalidExpression(`Unknown operator ${operator}.`);
      return (item) => holds(item[name], value);
    };
    const joined =
      (word: string, read: () => Test, decide: (tests: Test[], item: Item) => boolean) => (): Test => {
        const tests = [read()];
        while (rest[0] === word) {
          next();
          tests.push(read());
        }
        return (item) => decide(tests, item);
      };
    const all = joined('AND', one, (tests, item) => tests.every((test) => test(item)));
    const any = joined('OR', all, (tests, item) => tests.some((test) => test(item)));

    const whole = any();
    if (rest.length > 0) throw new InvalidExpression(`Left over: ${rest.join(' ')}.`);
    return whole;
  };

  const update = (text: string): ((item: Item) => Item) => {
    const { rest, next, expect, list } = reader(text);
    const section = <T>(word: string, read: () => T): T[] => {
      if (rest[0] !== word) return [];
      next();
      return list(read);
    };
    const assignments = section('SET', () => {
      const name = nameOf(next());
      expect('=');
      const token = next();
      if (rest[0] === '+') {
        const added = nameOf(token);
        next();
        const value = Number(literal(next()));
        return { name, unless: undefined, valueFor: (item: Item) => Number(item[added]) + value };
      }
      if (token !== 'if_not_exists') {
        const value = literal(token);
        return { name, unless: undefined, valueFor: () => value };
      }
      expect('(');
      const unless = nameOf(next());
      expect(',');
      const value = literal(next());
      expect(')');
      return { name, unless, valueFor: () => value };
    });
    const removals: string[] = [];
    const additions: { readonly name: string; readonly value: unknown }[] = [];
    while (rest[0] === 'REMOVE' || rest[0] === 'ADD') {
      removals.push(...section('REMOVE', () => nameOf(next())));
      additions.push(...section('ADD', () => ({ name: nameOf(next()), value: literal(next()) })));
    }
    if (rest.length > 0) throw new InvalidExpression(`Left over: ${rest.join(' ')}.`);
    const paths = [...[...assignments, ...additions].map(({ name }) => name), ...removals];
    if (paths.length === 0) throw new InvalidExpression('It changes nothing.');
    if (new Set(paths).size !== paths.length) throw new InvalidExpression('Two document paths overlap.');

    return (item) => {
      const after: Record<string, unknown> = { ...item };
      for (const { name, unless, valueFor } of assignments) {
        after[name] = unless !== undefined && item[unless] !== undefined ? item[unless] : valueFor(item);
      }
      for (const { name, value } of additions) after[name] = Number(item[name] ?? 0) + Number(value);
      for (const name of removals) delete after[name];
      return after;
    };
  };

  const refuseUnused = (): void => {
    const given = [...Object.keys(context.ExpressionAttributeNames ?? {}), ...Object.keys(values)];
    const unused = given.filter((token) => !used.has(token));
    if (unused.length > 0) throw new InvalidExpression(`Not used: ${unused.join(', ')}.`);
  };

  return { condition, update, refuseUnused };
};
