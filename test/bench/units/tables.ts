import * as v from 'valibot';
import type { Template } from '../template.ts';
import type { Table } from './capacity.ts';

const name = v.string();
const keySchema = v.pipe(
  v.array(v.object({ AttributeName: name, KeyType: v.picklist(['HASH', 'RANGE']) })),
  v.transform((keys) => keys.map(({ AttributeName }) => AttributeName)),
);
const tableShape = v.object({
  BillingMode: v.literal('PAY_PER_REQUEST'),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: v.optional(
    v.array(
      v.object({
        IndexName: name,
        KeySchema: keySchema,
        Projection: v.variant('ProjectionType', [
          v.object({ ProjectionType: v.literal('KEYS_ONLY') }),
          v.object({ ProjectionType: v.literal('INCLUDE'), NonKeyAttributes: v.array(name) }),
        ]),
      }),
    ),
    [],
  ),
});

const outputs = ['ExtractionsTableName', 'TasksTableName', 'RequestsTableName', 'BreakersTableName'] as const;

/** The tables of the template, by the output that names each. Throws if one is not billed per request. */
export const tablesOf = ({ Resources, Outputs }: Template): Readonly<Record<string, Table>> =>
  Object.fromEntries(
    outputs.map((output) => {
      const { Ref } = v.parse(v.object({ Ref: name }), Outputs[output]?.Value);
      const { KeySchema, GlobalSecondaryIndexes } = v.parse(tableShape, Resources[Ref]?.Properties);
      const table: Table = {
        name: output.replace('TableName', ''),
        keys: KeySchema,
        indexes: GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
          name: IndexName,
          keys: KeySchema,
          projected: Projection.ProjectionType === 'INCLUDE' ? Projection.NonKeyAttributes : [],
        })),
      };
      return [output, table];
    }),
  );

/** The tables by their names in a deployment, which requests use. */
export const deployedTables = (
  tables: Readonly<Record<string, Table>>,
  deployed: Readonly<Record<string, string>>,
): ReadonlyMap<string, Table> =>
  new Map(Object.entries(tables).map(([output, table]) => [deployed[output] ?? '', table]));
