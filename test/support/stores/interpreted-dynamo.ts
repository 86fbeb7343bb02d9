import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type ExpressionContext, type Item, interpreter } from './expression-interpreter.ts';

const refused = (old: Item | undefined) =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata: {},
    ...(old === undefined ? {} : { Item: marshall(old) }),
  });

type Input = ExpressionContext &
  Pick<UpdateItemCommandInput, 'ConditionExpression' | 'ReturnValuesOnConditionCheckFailure'> & {
    readonly UpdateExpression?: string | undefined;
  };

/** Checks the expressions, and the condition for an item. Returns the change of an update. */
const checked = (input: Input, old: Item | undefined) => {
  const { condition, update, refuseUnused } = interpreter(input);
  const { ConditionExpression, UpdateExpression } = input;
  const holds = ConditionExpression === undefined ? () => true : condition(ConditionExpression);
  const change = UpdateExpression === undefined ? (item: Item) => item : update(UpdateExpression);
  refuseUnused();
  if (holds(old ?? {})) return change;
  throw refused(input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? old : undefined);
};

/** A DynamoDB client for one table in memory. It interprets the expressions of the commands. */
export const interpretedDynamo = (key: string) => {
  const items = new Map<string, Item>();

  const put = ({ input }: PutItemCommand) => {
    if (input.ConditionExpression === undefined) throw new Error('Every put has a condition.');
    const item = unmarshall(input.Item ?? {});
    checked(input, items.get(String(item[key])));
    items.set(String(item[key]), item);
    return {};
  };

  const remove = ({ input }: DeleteItemCommand) => {
    const id = String(unmarshall(input.Key ?? {})[key]);
    checked(input, items.get(id));
    items.delete(id);
    return {};
  };

  const update = ({ input }: UpdateItemCommand) => {
    const keys = unmarshall(input.Key ?? {});
    const id = String(keys[key]);
    const old = items.get(id);
    const next = checked(input, old)(old ?? keys);
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
