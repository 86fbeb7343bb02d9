/** A row of the table of policies in docs/cli.md. A command is its name, and the options with which it needs more or less. */
type DocumentedPolicy = {
  readonly output: string;
  readonly commands: readonly (readonly string[])[];
};

/** The policies in docs/cli.md, from the least to the most that people may do. */
export const documentedPolicies = (page: string): readonly DocumentedPolicy[] =>
  [...page.matchAll(/^\| `…-\w+` \| `(\w+)` \| (.*) \|$/gm)].map(([, output = '', commands = '']) => ({
    output,
    commands: [...commands.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command.split(' ')),
  }));

/** The outputs of the policies that these arguments need, by the page. Of the commands there that fit, the one with most options counts. */
export const policiesFor = (page: string, args: readonly string[]): readonly string[] => {
  const policies = documentedPolicies(page);
  const [closest] = policies
    .flatMap(({ commands }, row) => commands.map(([name, ...options]) => ({ row, name, options })))
    .filter(({ name, options }) => args[0] === name && options.every((one) => args.includes(one)))
    .toSorted((one, other) => other.options.length - one.options.length);
  if (closest === undefined) throw new Error(`docs/cli.md names no policy for ${args[0]}.`);
  return policies.slice(0, closest.row + 1).map(({ output }) => output);
};
