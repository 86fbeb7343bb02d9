import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Node, parse } from 'acorn';
import { repository } from '../../tools/local/paths.ts';

/** One change of one file of the product. */
export type DrawnFault = {
  /** The file, the kind of change, and the line: it outlives changes elsewhere in the file. */
  readonly id: string;
  readonly file: string;
  readonly kind: string;
  readonly line: number;
  readonly was: string;
  readonly is: string;
  readonly source: string;
};

/** With which the tests end as soon as one fails, or cannot be loaded. Vitest itself ends with 1, also where it runs none. */
export const caughtCode = 3;

type Change = { readonly kind: string; readonly start: number; readonly end: number; readonly is: string };

type Any = Node & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Any =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

const others: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};

const otherMethods: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
};

const isText = (node: unknown): boolean =>
  isNode(node) && (node.type === 'TemplateLiteral' || typeof node.value === 'string');

/** The changes of one node of the tree. */
const changesOf = (node: Any, parent: Any | undefined, source: string): readonly Change[] => {
  const { type, start, end } = node;
  const text = (of: Any): string => source.slice(of.start, of.end);
  const one = (kind: string, is: string, at = { start, end }): readonly Change[] => [{ kind, ...at, is }];
  const [left, right, test] = [node.left, node.right, node.test] as readonly Any[];
  if (type === 'BinaryExpression' || type === 'LogicalExpression') {
    if (left === undefined || right === undefined || isText(left) || isText(right)) return [];
    const operator = String(node.operator);
    if (operator === '??') return one('without ??', text(left));
    const is = others[operator];
    const at = source.indexOf(operator, left.end);
    return is === undefined || at > right.start
      ? []
      : one(`${operator} is ${is}`, is, { start: at, end: at + operator.length });
  }
  if ((type === 'IfStatement' || type === 'ConditionalExpression') && test !== undefined)
    return one('condition negated', `!(${text(test)})`, test);
  if (type === 'Literal' && typeof node.value === 'boolean') return one('other boolean', String(!node.value));
  if (type === 'Literal' && typeof node.value === 'number') {
    const unit = node.value > 1 ? one('number times 1,000', `(${text(node)} * 1_000)`) : [];
    return [...one('number plus 1', `(${text(node)} + 1)`), ...unit];
  }
  if (type === 'AwaitExpression') return one('without await', `(${text(node.argument as Any)})`);
  // Not the name of a module or of a property, and no sentence, which is for people.
  const isPlainText =
    typeof node.value === 'string' &&
    !/ \w+ /.test(node.value) &&
    parent?.type !== 'ImportDeclaration' &&
    parent?.key !== node;
  if (type === 'Literal' && isPlainText && !String(parent?.type).startsWith('Export'))
    return one('other text', "'other'");
  if (type === 'ExpressionStatement' && node.directive === undefined) return one('statement left out', ';');
  if (type === 'ReturnStatement' && parent?.type === 'IfStatement') return one('return left out', ';');
  if (type === 'Property' && parent?.type === 'ObjectExpression' && source[end] === ',')
    return one('property left out', '', { start, end: end + 1 });
  if (type === 'MemberExpression' && isNode(node.property) && otherMethods[text(node.property)] !== undefined)
    return one('other method', otherMethods[text(node.property)] ?? '', node.property);
  return [];
};

const walk = (node: Any, parent: Any | undefined, source: string): readonly Change[] => [
  ...changesOf(node, parent, source),
  ...Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).flatMap((child) => walk(child, node, source)),
  ),
];

/** Every fault of a source. */
export const faultsOf = (file: string, source: string): readonly DrawnFault[] => {
  // Types become spaces, so that positions are those of the source.
  const tree = parse(stripTypeScriptTypes(source), {
    ecmaVersion: 'latest',
    sourceType: 'module',
  }) as unknown as Any;
  const times = new Map<string, number>();
  return walk(tree, undefined, source).map(({ kind, start, end, is }) => {
    const line = source.slice(0, start).split('\n').length;
    const name = `${file}: ${kind}: ${source.split('\n')[line - 1]?.trim()}`;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return {
      id: time === 1 ? name : `${name} (${time})`,
      file,
      kind,
      line,
      was: source.slice(start, end),
      is,
      source: `${source.slice(0, start)}${is}${source.slice(end)}`,
    };
  });
};

/** The core, the rest of lib, the functions and the infrastructure are drawn alike, however many lines each has. */
const partOf = (file: string): string =>
  /^lib\/(extraction|breaker|rate-limit|webhook)\//.test(file) ? 'core' : (file.split('/')[0] ?? '');

/** Promises that are not awaited, wrong units, wrong constants, lost fields, lost statements, and all that makes a condition another one. */
const classOf = (kind: string): string =>
  /^(without await|number times 1,000|number plus 1|property left out|statement left out|other (text|boolean))$/.exec(
    kind,
  )?.[0] ?? 'condition';

const strataOf = (faults: readonly DrawnFault[], rank: (text: string) => string) =>
  [...Map.groupBy(faults, ({ file, kind }) => `${classOf(kind)} in ${partOf(file)}`)]
    .map(([name, members]) => ({
      at: rank(name),
      members: members
        .map((fault) => ({ fault, at: rank(fault.id) }))
        .toSorted((one, other) => (one.at < other.at ? -1 : 1)),
    }))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));

/**
 * So many faults drawn in lib, functions and infra, one of each stratum after the other: a kind of change in a part of the code. A seed draws
 * them by their ids, so that a change of the code replaces few of them.
 */
export const drawFaults = (seed: number, count: number): readonly DrawnFault[] => {
  const rank = (text: string): string => createHash('sha256').update(`${seed} ${text}`).digest('hex');
  const all = ['lib', 'functions', 'infra']
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: repository }))
    // The values of examples, any of which would do.
    .filter((file) => !file.endsWith('-for-tests.ts'))
    .flatMap((file) => faultsOf(file, readFileSync(join(repository, file), 'utf8')));
  return strataOf(all, rank)
    .flatMap(({ at, members }) => members.map(({ fault }, index) => ({ fault, index, at })))
    .toSorted((one, other) => one.index - other.index || (one.at < other.at ? -1 : 1))
    .slice(0, count)
    .map(({ fault }) => fault);
};
