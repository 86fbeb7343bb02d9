import { DescribeTableCommand, type DynamoDBClient, type KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { CannotBeCounted } from './item-bytes.ts';

/** An index of a table. It projects its keys, and these attributes. */
export type Index = {
  readonly name: string;
  /** Partition key first. */
  readonly keys: readonly string[];
  readonly projected: readonly string[];
};

export type Table = {
  /** The name for the report. */
  readonly name: string;
  readonly keys: readonly string[];
  readonly indexes: readonly Index[];
};

const namesOf = (keys: readonly KeySchemaElement[] = []): readonly string[] =>
  keys.map(({ AttributeName = '' }) => AttributeName);

/** The tables of a deployment with these outputs, by the names that requests call them. */
export const readTableSchemas = async (
  client: DynamoDBClient,
  outputs: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Table>> => {
  const read = async ([output, TableName]: readonly [string, string]) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const indexes = (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '', KeySchema, Projection }) => {
      if (Projection?.ProjectionType === 'ALL')
        throw new CannotBeCounted(`${IndexName} projects everything.`);
      return { name: IndexName, keys: namesOf(KeySchema), projected: Projection?.NonKeyAttributes ?? [] };
    });
    const name = output.replace('TableName', '');
    return [TableName, { name, keys: namesOf(Table?.KeySchema), indexes }] as const;
  };
  const named = Object.entries(outputs).filter(([output]) => output.endsWith('TableName'));
  return new Map(await Promise.all(named.map(read)));
};
