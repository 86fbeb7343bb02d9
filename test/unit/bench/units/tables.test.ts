import { expect, test } from 'vitest';
import { synthesizeTemplate } from '../../../bench/template.ts';
import { deployedTables, tablesOf } from '../../../bench/units/tables.ts';

test('the tables of a deployment are those of the template, by the names in its outputs', () => {
  const names = {
    ...{ ExtractionsTableName: 'a', TasksTableName: 'b' },
    ...{ RequestsTableName: 'c', BreakersTableName: 'd' },
  };
  const outputs = { ...names, ApiUrl: 'https://api.example' };
  const tables = deployedTables(tablesOf(synthesizeTemplate()), outputs);
  expect([...tables.keys()]).toEqual(['a', 'b', 'c', 'd']);
  expect(tables.get('a')).toMatchObject({
    ...{ name: 'Extractions', keys: ['extractionId'] },
    indexes: [{ name: 'due', keys: ['dueShard', 'dueAt'] }],
  });
  expect(tables.get('b')).toEqual({ name: 'Tasks', keys: ['taskId'], indexes: [] });
});
