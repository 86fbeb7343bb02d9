export type Statement = {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource?: unknown;
  readonly Principal?: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** A request within one account. `principal`: the ARN of a user or role. */
type AwsRequest = {
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  /** Further keys that conditions may read. */
  readonly context?: Readonly<Record<string, string>>;
};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** `*` and `?`, as in the elements Action and Resource. */
const isLike = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text);

/**
 * Whether policies of the template allow a request: no statement denies it, and one allows it
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html). `textOf` makes text of the template's
 * values. Throws for a condition operator that it does not know.
 */
export const isAllowed = (
  request: AwsRequest,
  {
    identity,
    resource = [],
  }: { readonly identity: readonly Statement[]; readonly resource?: readonly Statement[] },
  textOf: (value: unknown) => string,
): boolean => {
  const context: Readonly<Record<string, string>> = {
    'aws:PrincipalArn': request.principal,
    ...request.context,
  };
  const texts = (value: unknown): readonly string[] => list(value).map(textOf);
  const holds = (operator: string, key: string, values: readonly string[]): boolean => {
    const actual = context[key];
    const matches = actual !== undefined && values.some((value) => isLike(value, actual));
    if (['StringEquals', 'ArnEquals', 'ArnLike'].includes(operator)) return matches;
    if (/^ForAllValues:String(Equals|Like)$|IfExists$/.test(operator)) return matches || actual === undefined;
    // A negated operator also holds where the key is absent.
    if (operator === 'ArnNotEquals' || operator === 'ForAllValues:StringNotEquals') return !matches;
    throw new Error(`The operator ${operator} is not known.`);
  };
  const applies = ({ Action, Resource, Principal, Condition = {} }: Statement): boolean =>
    texts(Action).some((action) => isLike(action, request.action)) &&
    texts(Resource).some((one) => isLike(one, request.resource)) &&
    (Principal === undefined ||
      texts((Principal as { AWS?: unknown }).AWS ?? Principal).some((one) =>
        ['*', request.principal].includes(one),
      )) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, key, texts(values))),
    );
  const applying = [...identity, ...resource].filter(applies).map(({ Effect }) => Effect);
  return applying.includes('Allow') && !applying.includes('Deny');
};
