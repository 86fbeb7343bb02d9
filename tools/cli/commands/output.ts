import { CliError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

/** Prints an output of the stack, or with `--resource` the name of its one resource of a type whose name has this part. */
export const output = async (
  name: string,
  { resource }: { readonly resource?: string },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  if (resource === undefined) {
    const value = deployment.output(name);
    shell.print(value, { name, value });
    return 0;
  }
  const found = (await deployment.resources(`AWS::${resource}`)).filter((one) => one.includes(name));
  const [value, ...others] = found;
  if (value === undefined || others.length > 0) {
    throw new CliError(
      `${found.length} resources of the type AWS::${resource} have "${name}" in their names, and one is needed.`,
    );
  }
  shell.print(value, { name, value });
  return 0;
};
