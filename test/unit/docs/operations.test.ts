import { expect, test } from 'vitest';
import { resourcesOf, synthesize } from '../infra/synth.ts';
import { metricNames, read } from './metric-names.ts';
import { runbookEntries } from './runbook-entries.ts';

/** With every optional feature, because every alarm needs its entry. */
const deployed = Object.values(
  resourcesOf(synthesize({ fanOutToEventBus: 'true' }).template, 'AWS::CloudWatch::Alarm'),
);
const alarms = deployed.map(({ Properties }) => ({
  name: String(Properties.AlarmName),
  anchor: String(Properties.AlarmDescription).split('docs/operations.md#')[1] ?? '',
}));

test('docs/operations.md explains every metric', () => {
  expect(metricNames.length).toBeGreaterThan(30);
  const operations = read('docs/operations.md');
  expect(metricNames.filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
});

test('every alarm links to an entry, and every entry has an alarm', () => {
  expect(alarms.length).toBeGreaterThan(20);
  expect([...new Set(alarms.map(({ anchor }) => anchor))].toSorted()).toEqual(
    runbookEntries.map(({ id }) => id).toSorted(),
  );
});

test.each(runbookEntries)('$id: what it means, how to investigate, fix and recover', ({ text }) => {
  const parts = ['**What it means.** ', '**Investigate.** ', '**Fix.**', '**How it recovers.** '];
  const places = parts.map((part) => text.indexOf(`\n${part}`));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  // A part has content, not a title alone.
  for (const part of parts) expect(text.split(part)[1]?.length).toBeGreaterThan(40);
  expect(text.slice(places[1])).toMatch(/```sh\n[^`]+\n```/);
});

test('an entry names each of its alarms with another name', () => {
  for (const { id, text } of runbookEntries) {
    for (const { name, anchor } of alarms) {
      if (anchor === id && !name.endsWith(`-${id}`)) {
        expect([id, text]).toEqual([id, expect.stringContaining(name.replace('Cosecha-prod-', ''))]);
      }
    }
  }
});

test('the page has the numbers of billed alarms and metrics', () => {
  const metricsWatched = deployed
    .map(({ Properties }) => (Properties.Metrics as { MetricStat?: unknown }[] | undefined) ?? [{}])
    .map((queries) => Math.max(1, queries.filter(({ MetricStat }) => MetricStat !== undefined).length))
    .reduce((sum, count) => sum + count, 0);
  const page = read('docs/operations.md');
  expect(page).toContain(`${alarms.length} alarms watch ${metricsWatched} metrics`);
  expect(page).toContain(`at most ${metricNames.length} custom metrics`);
});
