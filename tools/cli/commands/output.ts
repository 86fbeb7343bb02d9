import { CliError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

/** Prints an output of the stack or all, or with `--resource` the name of its one resource of a type whose name has this part. */
export const output = async (
  name: string | undefined,
  { resource }: { readonly resource?: string },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { api, isEmulated, outputNames } = deployment;
  if (resource === undefined) {
    // The host in the stack's output is one that an emulator's machine may not resolve.
    const served: Readonly<Record<string, string>> = { ApiUrl: api.base, WebhookUrl: api.webhookUrl };
    for (const one of name === undefined ? outputNames : [name]) {
      const value = (isEmulated ? served[one] : undefined) ?? deployment.output(one);
      shell.print(name === undefined ? `${one}  ${value}` : value, { name: one, value });
    }
    return 0;
  }
  const found = (await deployment.resources(`AWS::${resource}`)).filter((one) => one.includes(name ?? ''));
  const [value, ...others] = found;
  if (value === undefined || others.length > 0) {
    throw new CliError(
      `${found.length} resources of the type AWS::${resource} have "${name ?? ''}" in their names, and one is needed.`,
    );
  }
  shell.print(value, { name, value });
  return 0;
};
