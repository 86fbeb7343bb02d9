type Every = {
  /** What it invokes a function for, such as `sweep`. */
  readonly name: string;
  /** What does not happen without it, in a sentence. */
  readonly without: string;
};

/**
 * What invokes a function by itself, without a caller: a rule or an event source mapping. Each construct names its own, and the output
 * `Triggers` has all as JSON, so that what checks a deployment needs no list of its own.
 */
export type Trigger = RuleTrigger | MappingTrigger;

export type RuleTrigger = Every & { readonly rule: string };

export type MappingTrigger = Every & {
  readonly functionName: string;
  /** The ARN of a queue or a stream. */
  readonly source: string;
  /** Of a queue: how many messages are handled at once. */
  readonly atOnce?: number;
};

export const isRule = (trigger: Trigger): trigger is RuleTrigger => 'rule' in trigger;

export const isMapping = (trigger: Trigger): trigger is MappingTrigger => !isRule(trigger);

export const parseTriggers = (json: string): readonly Trigger[] => JSON.parse(json) as readonly Trigger[];
