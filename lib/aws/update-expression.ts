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
  const given = <Value>(of: Value | undefined, clause: (of: Value) => string): string | undefined =>
    of === undefined ? undefined : clause(of);

  const hasOneOfTheStatuses = given(statuses, (of) => `${name('status')} IN (${of.join(', ')})`);
  const isOfTheRequest = given(when.requestId, (of) => `${name('requestId')} = ${value('request', of)}`);
  const isOfTheAttempt = given(when.attemptId, (of) => `${name('attemptId')} = ${value('attempt', of)}`);
  const hasNoAttempt = given(when.withoutAttempt, () => `attribute_not_exists(${name('attemptId')})`);
  const hasTheTask = given(when.taskId, (of) => `${name('taskId')} = ${value('task', of)}`);
  const isOpen = given(when.open, () => `attribute_exists(${name('dueShard')})`);
  const isUncollected = given(when.uncollected, () => `attribute_not_exists(${name('collectedAt')})`);
  const isNotErasing = given(when.notErasing, () => `attribute_not_exists(${name('erasingAt')})`);
  const isDueAsDecided = given(when.dueAt, (of) => `${name('dueAt')} = ${value('wasDueAt', of)}`);

  return [
    hasOneOfTheStatuses,
    isOfTheRequest,
    isOfTheAttempt,
    hasNoAttempt,
    hasTheTask,
    isOpen,
    isUncollected,
    isNotErasing,
    isDueAsDecided,
  ].filter((clause) => clause !== undefined);
};
