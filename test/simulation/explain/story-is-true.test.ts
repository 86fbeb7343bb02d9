/** @module-tag slow */

import { beforeAll, expect, test } from 'vitest';
import { sentenceOf } from '../../../tools/cli/explain/sentences.ts';
import type { FactName, StoryFact } from '../../../tools/cli/explain/story-facts.ts';
import { commandTextOf } from '../../../tools/cli/terminal/command-text.ts';
import { plain, type Scenario } from '../world/scenario.ts';
import { observeWorld, type Stated, type Trace } from './observe-world.ts';
import { contradiction, oracles } from './oracles.ts';
import { View } from './view.ts';

/** Most kinds of facts are stated in every tenth world, and the rarest in one of a thousand. */
const worlds = 6_000;

/**
 * In the life of one extraction nobody waits in line, nobody writes the table by hand, and no backup is restored that is older than a start.
 * Unit tests have these facts.
 */
const notStated: readonly FactName[] = ['startExpected', 'lacking', 'restoredUnconfirmed'];

/** The sealed data of a consent are lost while its results lag, which few seeds have. */
const lostWhileCollecting: Scenario = {
  ...plain,
  name: 'lost-while-collecting',
  method: 'consent-v1',
  task: { endsAfter: 12, status: 'COMPLETED', lagging: { for: 10_000, shape: 'empty' } },
  requestLostAfter: 30,
};

/** Reads are paused from before the first poll on. */
const readsPaused: Scenario = {
  ...plain,
  name: 'reads-paused',
  webhook: 'not requested',
  task: { endsAfter: 'never', status: 'COMPLETED' },
  breakers: { paused: { names: ['reads'], until: 60 } },
};

/** By their seeds. */
const special = (seed: number): Scenario | undefined =>
  seed <= 20 ? lostWhileCollecting : seed <= 60 ? readsPaused : undefined;

const findings: string[] = [];

/** By the name of a fact, and of a field of it, the values that were stated. The field '' is the whole fact. */
const statedValues = new Map<string, Set<unknown>>();

/** The names of `statedValues` about which an oracle has caught a lie. */
const caught = new Set<string>();

const fieldsOf = (fact: StoryFact): readonly string[] => Object.keys(fact).filter((name) => name !== 'fact');

const keep = (name: string, value: unknown): void => {
  const values = statedValues.get(name) ?? new Set();
  if (values.size < 40) values.add(value);
  statedValues.set(name, values);
};

/** Values that may never be stated. */
const others = (value: unknown): readonly unknown[] =>
  typeof value === 'boolean' ? [!value] : typeof value === 'number' ? [value + 1] : ['something else'];

/** Lies until one is caught: with a field as others of its kind have it, or none; and a fact that was stated elsewhere. */
const lie = ({ fact, moment }: Stated, trace: Trace): void => {
  const tryEach = (name: string, lies: Iterable<StoryFact>): void => {
    for (const one of caught.has(name) ? [] : lies) {
      if (contradiction(one, new View(trace, moment)) !== undefined) caught.add(name);
    }
  };
  for (const field of fieldsOf(fact)) {
    const name = `${fact.fact}.${field}`;
    const values = [...(statedValues.get(name) ?? []), ...others(fact[field as keyof StoryFact])];
    tryEach(
      name,
      values.map((value) => ({ ...fact, [field]: value }) as StoryFact),
    );
  }
  for (const name of Object.keys(oracles))
    tryEach(name, (statedValues.get(name) ?? []) as Iterable<StoryFact>);
};

beforeAll(async () => {
  for (let seed = 1; seed <= worlds; seed += 1) {
    const { trace, stated } = await observeWorld(seed, special(seed));
    for (const one of stated) {
      const { moment, fact } = one;
      const what = contradiction(fact, new View(trace, moment));
      if (what !== undefined) findings.push(`Seed ${seed} states ${JSON.stringify(fact)}, but ${what}.`);
      const reader = { extractionId: 'extraction-1', now: new Date(moment.now), command: commandTextOf() };
      const sentence = sentenceOf(fact, reader);
      if (/undefined|NaN/.test(sentence)) findings.push(`Seed ${seed} prints "${sentence}"`);
      keep(fact.fact, fact);
      for (const field of fieldsOf(fact)) keep(`${fact.fact}.${field}`, fact[field as keyof StoryFact]);
      lie(one, trace);
    }
  }
});

test('no sentence of a story contradicts what happened', () => {
  expect(findings).toEqual([]);
});

test('every fact is stated, and a lie about it and about each of its fields is caught', () => {
  const all = Object.keys(oracles).filter((name) => !notStated.includes(name as FactName));
  expect(all.filter((name) => !statedValues.has(name))).toEqual([]);
  expect([...statedValues.keys()].filter((name) => !caught.has(name))).toEqual([]);
});
