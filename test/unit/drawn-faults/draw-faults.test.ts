import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawFaults, faultsOf } from '../../drawn-faults/draw-faults.ts';

test('a drawn fault is a source with one change, and types are never changed', () => {
  const source =
    "const isLate = (at: 'x' | 1, max = 2): boolean => at > max && !isOff;\nif (isLate(1)) stop();";
  expect(faultsOf('lib/late.ts', source).map(({ line, was, is }) => [line, was, is])).toEqual([
    [1, '2', '(2 + 1)'],
    [1, '2', '(2 * 1_000)'],
    [1, '&&', '||'],
    [1, '>', '>='],
    [2, 'isLate(1)', '!(isLate(1))'],
    [2, '1', '(1 + 1)'],
    [2, 'stop();', ';'],
  ]);
  expect(faultsOf('lib/late.ts', source)[3]).toMatchObject({
    id: `lib/late.ts: > is >=: ${source.split('\n')[0]}`,
    source: source.replace('at > max', 'at >= max'),
  });
});

test('a seed draws the same faults, another seed others, and every survivor is one of today', () => {
  const ids = (seed: number, count: number) => drawFaults(seed, count).map(({ id }) => id);
  expect(ids(1, 20)).toEqual(ids(1, 20));
  expect(ids(2, 20)).not.toEqual(ids(1, 20));
  const all = new Set(ids(1, Number.POSITIVE_INFINITY));
  const survivors = readFileSync(new URL('../../drawn-faults/survivors.txt', import.meta.url), 'utf8');
  expect(survivors.split('\n').filter((id) => !/^(#|$)/.test(id) && !all.has(id))).toEqual([]);
});
