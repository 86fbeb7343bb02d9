import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, type NativeAttributeValue } from '@aws-sdk/util-dynamodb';
import type { Guard, Update } from '../extraction/change.ts';

/** The part of an UpdateItem input that a change determines. */
type UpdateParts = {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues: Record<string, AttributeValue>;
};

/**
 * Converts a change into DynamoDB expressions. Every name is aliased, because some are reserved words (`status`,
 * `method`: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html).
 */
export const updateExpression = (change: Update): UpdateParts => {
  const names: Record<string, string> = {};
  const values: Record<string, NativeAttributeValue> = {};
  const name = (attribute: string): string => {
    names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  };
  const value = (label: string, of: NativeAttributeValue): string => {
    values[`:${label}`] = of;
    return `:${label}`;
  };

  const assignments = Object.entries(change.set)
    .filter(([, of]) => of !== undefined)
    .map(([attribute, of]) => `${name(attribute)} = ${value(attribute, of)}`);
  const removals = change.remove.map(name);
  const conditions = conditionsOf(change.when, name, value);

  return {
    UpdateExpression: [
      ...(assignments.length === 0 ? [] : [`SET ${assignments.join(', ')}`]),
      ...(removals.length === 0 ? [] : [`REMOVE ${removals.join(', ')}`]),
    ].join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }),
  };
};

const conditionsOf = (
  when: Guard,
  name: (attribute: string) => string,
  value: (label: string, of: NativeAttributeValue) => string,
): string[] => {
  const statuses = when.status?.map((status, index) => value(`was${index}`, status));
  return [
    ...(statuses === undefined ? [] : [`${name('status')} IN (${statuses.join(', ')})`]),
    ...(when.requestId === undefined ? [] : [`${name('requestId')} = ${value('request', when.requestId)}`]),
    ...(when.attemptId === undefined ? [] : [`${name('attemptId')} = ${value('attempt', when.attemptId)}`]),
    ...(when.withoutAttempt === undefined ? [] : [`attribute_not_exists(${name('attemptId')})`]),
    ...(when.taskId === undefined ? [] : [`${name('taskId')} = ${value('task', when.taskId)}`]),
    ...(when.open === undefined ? [] : [`attribute_exists(${name('dueShard')})`]),
    ...(when.uncollected === undefined ? [] : [`attribute_not_exists(${name('collectedAt')})`]),
    ...(when.notErasing === undefined ? [] : [`attribute_not_exists(${name('erasingAt')})`]),
    ...(when.dueAt === undefined ? [] : [`${name('dueAt')} = ${value('wasDueAt', when.dueAt)}`]),
  ];
};
