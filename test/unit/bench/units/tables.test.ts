import { expect, test } from 'vitest';
import { synthesizeTemplate } from '../../../bench/template.ts';
import { deployedTables, tablesOf } from '../../../bench/units/tables.ts';

test('the tables of a deployment are those of the template, by the names in its outputs', () => {
  const outputs = { ExtractionsTableName: 'a', TasksTableName: 'b', ApiUrl: 'https://api.example' };
  const tables = deployedTables(tablesOf(synthesizeTemplate()), outputs);
  expect([...tables.keys()]).toEqual(['a', 'b']);
  expect(tables.get('a')).toMatchObject({
    ...{ name: 'Extractions', keys: ['extractionId'] },
    indexes: [{ name: 'due', keys: ['dueShard', 'dueAt'] }],
  });
  expect(tables.get('b')).toEqual({ name: 'Tasks', keys: ['taskId'], indexes: [] });
});
