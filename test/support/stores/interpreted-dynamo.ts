import { setImmediate } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
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

/** The attributes of a key, which a comma separates, as one text. */
export const keyOf = (key: string, item: Item): string =>
  key
    .split(',')
    .map((name) => item[name])
    .join(' ');

/** The attributes that each index is sorted by, the first of which is its partition key. */
const indexes: Readonly<Record<string, readonly string[]>> = {
  due: ['dueShard', 'dueAt'],
  reference: ['reference', 'requestedBy', 'requestedAt'],
  batch: ['batch', 'requestedBy', 'requestedAt'],
  line: ['line', 'slot'],
};

/** A DynamoDB client for one table in memory. It interprets the expressions of the commands. `key`: its attributes, with a comma between them. `readsOld`: whether reads may be eventually consistent. `takesTurns`: each call takes a turn of the event loop, so that a write that is not awaited comes after the answer of its store. */
export const interpretedDynamo = (key: string, { readsOld = key === 'name', takesTurns = false } = {}) => {
  const items = new Map<string, Item>();

  const check = (input: PutItemCommandInput): (() => void) => {
    if (input.ConditionExpression === undefined) throw new Error('Every put has a condition.');
    const item = unmarshall(input.Item ?? {});
    checked(input, items.get(keyOf(key, item)));
    return () => void items.set(keyOf(key, item), item);
  };

  const put = ({ input }: PutItemCommand) => {
    check(input)();
    return {};
  };

  const transact = ({ input }: TransactWriteItemsCommand) => {
    let writes: readonly (() => void)[] = [];
    try {
      writes = (input.TransactItems ?? []).map(({ Put }) => check(Put as PutItemCommandInput));
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      throw new TransactionCanceledException({ message: error.message, $metadata: {} });
    }
    for (const write of writes) write();
    return {};
  };

  /** What was just written must not count as lost. */
  const isRead = (ConsistentRead: boolean | undefined): void => {
    if (ConsistentRead !== true && !readsOld) throw new Error('This read may be old.');
  };

  const batchGet = ({ input }: BatchGetItemCommand) => {
    const [[table = '', { Keys = [], ConsistentRead = undefined }] = ['', {}]] = Object.entries(
      input.RequestItems ?? {},
    );
    isRead(ConsistentRead);
    const found = Keys.flatMap((one) => items.get(keyOf(key, unmarshall(one))) ?? []);
    return { Responses: { [table]: found.map((item) => marshall(item)) } };
  };

  const remove = ({ input }: DeleteItemCommand) => {
    const id = keyOf(key, unmarshall(input.Key ?? {}));
    checked(input, items.get(id));
    items.delete(id);
    return {};
  };

  const update = ({ input }: UpdateItemCommand) => {
    const keys = unmarshall(input.Key ?? {});
    const id = keyOf(key, keys);
    const old = items.get(id);
    const next = checked(input, old)(old ?? keys);
    items.set(id, next);
    return input.ReturnValues?.endsWith('_NEW') ? { Attributes: marshall(next) } : {};
  };

  const get = ({ input }: GetItemCommand) => {
    isRead(input.ConsistentRead);
    const item = items.get(keyOf(key, unmarshall(input.Key ?? {})));
    return item === undefined ? {} : { Item: marshall(item) };
  };

  /** An index is never stale. */
  const query = ({ input }: QueryCommand) => {
    const { condition, refuseUnused } = interpreter(input);
    const isFound = condition(input.KeyConditionExpression ?? '');
    refuseUnused();
    const ofTable = key.split(',');
    const sortedBy = input.IndexName === undefined ? ofTable : (indexes[input.IndexName] ?? []);
    const names = [...sortedBy, ...ofTable];
    const direction = input.ScanIndexForward === false ? -1 : 1;
    const compare = (one: Item, other: Item): number => {
      const name = names.find((each) => one[each] !== other[each]);
      if (name === undefined) return 0;
      return direction * (String(one[name]) < String(other[name]) ? -1 : 1);
    };
    const start = input.ExclusiveStartKey && unmarshall(input.ExclusiveStartKey);
    const all = [...items.values()]
      .filter((item) => sortedBy.every((name) => item[name] !== undefined) && isFound(item))
      .sort(compare)
      .filter((item) => start === undefined || compare(start, item) < 0);
    const page = all.slice(0, input.Limit);
    const last = page.length < all.length ? page.at(-1) : undefined;
    return {
      Items: page.map((item) => marshall(item)),
      Count: page.length,
      ...(last && {
        LastEvaluatedKey: marshall(Object.fromEntries(names.map((name) => [name, last[name]]))),
      }),
    };
  };

  const client = {
    send: async (command: unknown) => {
      if (takesTurns) await setImmediate();
      if (command instanceof PutItemCommand) return put(command);
      if (command instanceof UpdateItemCommand) return update(command);
      if (command instanceof DeleteItemCommand) return remove(command);
      if (command instanceof GetItemCommand) return get(command);
      if (command instanceof BatchGetItemCommand) return batchGet(command);
      if (command instanceof TransactWriteItemsCommand) return transact(command);
      if (command instanceof QueryCommand) return query(command);
      throw new Error('Unknown command.');
    },
  } as unknown as DynamoDBClient;

  return { client, items };
};
