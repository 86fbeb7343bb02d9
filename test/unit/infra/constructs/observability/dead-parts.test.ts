import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Trigger } from '#lib/aws/trigger.ts';
import { read } from '../../../docs/pages.ts';
import {
  everyOption,
  flatten,
  functionsOf,
  jsonOf,
  propertiesOf,
  resourcesOf,
  synthesize,
} from '../../synth.ts';
import { queriesOf, watchedBy } from './watched-metrics.ts';

/** The table of docs/design.md: the alarm that the death of each part starts. */
const rows = [
  ...read('docs/design.md').matchAll(
    /^\| `([a-z-]+)` \| (`.*`) \| (failures|silence|waiting) \| (\d+) \|$/gm,
  ),
].map(([, alarm = '', parts = '', by = '', minutes]) => ({
  alarm,
  parts: [...parts.matchAll(/`([\w-]+)`/g)].map(([, part = '']) => part),
  by,
  minutes: Number(minutes),
}));

const { template } = synthesize(everyOption);
const functions = functionsOf(template);
const short = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');
const idsOf = (type: string): readonly string[] => Object.keys(resourcesOf(template, type)).map(short);
const queues = idsOf('AWS::SQS::Queue');
const mappings = idsOf('AWS::Lambda::EventSourceMapping');
const rules = idsOf('AWS::Events::Rule');

test('the table has every function, rule, mapping and queue of the template once', () => {
  const listed = rows.flatMap(({ parts }) => parts);
  expect(listed.toSorted()).toEqual([...functions.keys(), ...rules, ...mappings, ...queues].toSorted());
});

/** The resources that a part of the template refers to. */
const refersTo = (type: string, id: string): readonly string[] => {
  const [, resource] = Object.entries(resourcesOf(template, type)).find(([one]) => short(one) === id) ?? [];
  return [...jsonOf(resource?.Properties).matchAll(/<(\w+)/g)].map(([, name = '']) => name);
};

/** Every source that a file imports, and its text. */
const sourcesOf = (path: string, seen = new Map<string, string>()): ReadonlyMap<string, string> => {
  if (seen.has(path)) return seen;
  const text = readFileSync(path, 'utf8');
  seen.set(path, text);
  for (const [, other = ''] of text.matchAll(/from '(\.[^']+\.ts)'/g))
    sourcesOf(resolve(dirname(path), other), seen);
  return seen;
};

/** Whether a function counts a metric: one of the files that it imports names it, beside the list of all names. */
const counts = (name: string, metric: string): boolean =>
  [...sourcesOf(resolve('functions', `${name}.ts`))].some(
    ([path, text]) => !path.endsWith('metric-names.ts') && text.includes(`count('${metric}'`),
  );

const nameOf = (functionId: string): string =>
  [...functions].find(([, { id }]) => `${id}Function` === functionId)?.[0] ?? '';

const integrations = Object.values(resourcesOf(template, 'AWS::ApiGatewayV2::Integration')).map((one) =>
  jsonOf(one.Properties),
);

/** What a part leaves its death in: itself, what invokes it or it invokes, and what waits for it. */
const tracesOf = (part: string): readonly string[] => {
  if (functions.has(part)) {
    const id = `${functions.get(part)?.id}Function`;
    const receives = mappings.flatMap((one) => {
      const its = refersTo('AWS::Lambda::EventSourceMapping', one);
      return its.includes(id) ? its : [];
    });
    return [
      id,
      ...receives,
      ...(integrations.some((one) => one.includes(`<${id}.`)) ? ['ExtractionApi'] : []),
    ];
  }
  if (rules.includes(part)) return [part, ...refersTo('AWS::Events::Rule', part)];
  if (mappings.includes(part)) return refersTo('AWS::Lambda::EventSourceMapping', part);
  const senders = queues.filter((one) => refersTo('AWS::SQS::Queue', one).includes(part));
  const mapped = mappings
    .map((one) => refersTo('AWS::Lambda::EventSourceMapping', one))
    .filter((its) => its.includes(part));
  return [part, ...senders, ...mapped.flat()];
};

describe.each(rows)('$alarm', ({ alarm, parts, by, minutes }) => {
  const found = propertiesOf(template, 'AWS::CloudWatch::Alarm').find(
    ({ AlarmName }) => AlarmName === `Cosecha-prod-${alarm}`,
  );
  const queries = queriesOf(found);
  const watched = watchedBy(found);

  test.each(parts)('watches what %s leaves', (part) => {
    const traces = tracesOf(part);
    const own = watched.filter(({ Namespace, MetricName, Dimensions }) =>
      Namespace.startsWith('Cosecha/')
        ? [part, ...traces.map(nameOf)].some((one) => functions.has(one) && counts(one, MetricName))
        : Dimensions.some(({ Value }) => traces.includes(/^<(\w+)/.exec(flatten(Value))?.[1] ?? '')),
    );
    expect(own).not.toEqual([]);
  });

  test('starts in time, also where nothing is published any more', () => {
    const period = Number(found?.Period ?? queries.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period);
    const waits = /Age/.exec(watched[0]?.MetricName ?? '') === null ? 0 : Number(found?.Threshold);
    const seconds = watched[0]?.MetricName === 'IteratorAge' ? waits / 1_000 : waits;
    expect((period * Number(found?.EvaluationPeriods) + seconds) / 60).toBe(minutes);
    expect(by === 'waiting').toBe(seconds > 0);
    const expression = queries.find(({ Expression }) => Expression)?.Expression ?? '';
    // As missing data, or because `withoutEffect` counts an effect that has no value as 0.
    const breaches =
      found?.TreatMissingData === 'breaching' || expression.includes('SUM([effect, 0 * cause0');
    expect(breaches).toBe(by === 'silence');
  });
});

test('the output for doctor has every rule and mapping of the template', () => {
  const { Value } = template.findOutputs('Triggers').Triggers as { readonly Value: unknown };
  const triggers = JSON.parse(flatten(Value)) as readonly Trigger[];
  const keyOf = (its: Trigger): string => ('rule' in its ? its.rule : `${its.functionName} ${its.source}`);
  const made = mappings.map((one) => {
    const [, { Properties } = { Properties: {} as Record<string, unknown> }] =
      Object.entries(resourcesOf(template, 'AWS::Lambda::EventSourceMapping')).find(
        ([id]) => short(id) === one,
      ) ?? [];
    return `${flatten(Properties.FunctionName)} ${flatten(Properties.EventSourceArn)}`;
  });
  expect(triggers.map(keyOf).toSorted()).toEqual([...rules.map((rule) => `<${rule}>`), ...made].toSorted());
});
