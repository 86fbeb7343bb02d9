/** A JSON Schema of the dialect 2020-12, or a part of one. Only the keywords that the contracts use are typed. */
export type Schema = {
  readonly $id?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly additionalProperties?: boolean;
};

export const mapValues = <Before, After>(
  record: Readonly<Record<string, Before>>,
  change: (value: Before) => After,
): Record<string, After> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
