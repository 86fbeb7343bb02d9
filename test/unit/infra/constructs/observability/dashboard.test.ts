import { expect, test } from 'vitest';
import { metricNames } from '../../../docs/metric-names.ts';
import { flatten, propertiesOf, synthesize } from '../../synth.ts';

type Widget = {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly properties: {
    readonly metrics?: readonly (readonly unknown[])[];
  };
};

const { template } = synthesize();
const [dashboard] = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
const { widgets } = JSON.parse(flatten(dashboard?.DashboardBody)) as { readonly widgets: Widget[] };

test('it shows every metric that the code counts, with the dimensions of the code', () => {
  const shown = widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter(([namespace]) => String(namespace).startsWith('Cosecha/'));
  for (const [namespace, , ...dimension] of shown) {
    expect([namespace, ...dimension.slice(0, 2)]).toEqual(['Cosecha/prod', 'service', 'cosecha']);
  }
  expect([...new Set(shown.map(([, name]) => name))].toSorted()).toEqual([...metricNames].toSorted());
});
