import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type Item, interpreter } from './expression-interpreter.ts';

const refused = (old: Item | undefined) =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata: {},
    ...(old === undefined ? {} : { Item: marshall(old) }),
  });

/** A DynamoDB client for one table in memory. It interprets the expressions of the commands. */
export const interpretedDynamo = (key: string) => {
  const items = new Map<string, Item>();

  const put = ({ input }: PutItemCommand) => {
    const item = unmarshall(input.Item ?? {});
    const old = items.get(String(item[key]));
    const expressions = interpreter(input);
    const allowed = expressions.condition(input.ConditionExpression ?? '')(old ?? {});
    expressions.refuseUnused();
    if (!allowed) throw refused(input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? old : undefined);
    items.set(String(item[key]), item);
    return {};
  };

  const remove = ({ input }: DeleteItemCommand) => {
    const id = String(unmarshall(input.Key ?? {})[key]);
    const expressions = interpreter(input);
    const holds =
      input.ConditionExpression === undefined ? () => true : expressions.condition(input.ConditionExpression);
    expressions.refuseUnused();
    if (!holds(items.get(id) ?? {})) throw refused(undefined);
    items.delete(id);
    return {};
  };

  const update = ({ input }: UpdateItemCommand) => {
    const keys = unmarshall(input.Key ?? {});
    const id = String(keys[key]);
    const old = items.get(id);
    const expressions = interpreter(input);
    const holds =
      input.ConditionExpression === undefined ? () => true : expressions.condition(input.ConditionExpression);
    const change = expressions.update(input.UpdateExpression ?? '');
    expressions.refuseUnused();
    if (!holds(old ?? {})) {
      throw refused(input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? old : undefined);
    }
    const next = change(old ?? keys);
    items.set(id, next);
    return input.ReturnValues === 'ALL_NEW' ? { Attributes: marshall(next) } : {};
  };

  const get = ({ input }: GetItemCommand) => {
    const item = items.get(String(unmarshall(input.Key ?? {})[key]));
    return item === undefined ? {} : { Item: marshall(item) };
  };

  const client = {
    send: async (command: unknown) => {
      if (command instanceof PutItemCommand) return put(command);
      if (command instanceof UpdateItemCommand) return update(command);
      if (command instanceof DeleteItemCommand) return remove(command);
      if (command instanceof GetItemCommand) return get(command);
      if (command instanceof QueryCommand) return { Items: [] };
      throw new Error('Unknown command.');
    },
  } as unknown as DynamoDBClient;

  return { client, items };
};
