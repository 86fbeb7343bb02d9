type Every = {
  /** What it does, such as `sweep`. */
  readonly name: string;
  /** What fails without it, as a sentence. */
  readonly without: string;
};

/**
 * A rule or an event source mapping, which invokes a function without a caller. Each construct declares its own. The output `Triggers`
 * lists all as JSON, so that a check of a deployment needs no list of its own.
 */
export type Trigger = RuleTrigger | MappingTrigger;

export type RuleTrigger = Every & { readonly rule: string };

export type MappingTrigger = Every & {
  readonly functionName: string;
  /** The ARN of a queue or a stream. */
  readonly source: string;
  /** Only for a queue: how many messages are handled at once. */
  readonly atOnce?: number;
};

export const isRule = (trigger: Trigger): trigger is RuleTrigger => 'rule' in trigger;

export const isMapping = (trigger: Trigger): trigger is MappingTrigger => !isRule(trigger);

export const parseTriggers = (json: string): readonly Trigger[] => JSON.parse(json) as readonly Trigger[];
