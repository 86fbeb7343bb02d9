import { expect, test } from 'vitest';
import { expiringTables } from '../../../../../tools/local/emulator/complete-stack.ts';
import { resourcesOf, synthesize } from '../../../infra/synth.ts';

test('every table of the template whose items expire gets its time to live on an emulator, or doctor fails there', () => {
  const tables = Object.entries(resourcesOf(synthesize().template, 'AWS::DynamoDB::Table'));
  const expiring = tables.flatMap(([id, { Properties }]) =>
    Properties?.TimeToLiveSpecification === undefined ? [] : id,
  );
  const named = expiring.map((id) => /^(?:Cosecha)?Storage([A-Za-z]+?)[0-9A-F]{8}$/.exec(id)?.[1]);
  expect(named.toSorted()).toEqual(expiringTables.toSorted());
});
