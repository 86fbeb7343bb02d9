import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { extractionsOf } from '../aws/stores.ts';
import { findRefusals, forgetRefusal } from '../operate/forget-refusals.ts';
import { CliError } from '../terminal/errors.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type ForgetOptions = { readonly entity: string; readonly since: Since; readonly yes?: true };

export const forgetRefusals = async (
  { entity, since, yes }: ForgetOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { client, output } = deployment;
  const marks = { client: new DynamoDBClient(client), table: output('RefusalsTableName') };
  const now = shell.now();
  const wanted = { entity, since: since(now) };
  shell.wait('reading the marks');
  const found = await findRefusals(marks, wanted, { getRecord: extractionsOf(deployment).get, now });
  shell.wait(undefined);
  const question =
    `${found.length} refused credentials for ${entity} would be sent again. If they are wrong after all, the bank may lock the ` +
    'accounts. Type the entity to continue:';
  if (found.length > 0 && yes !== true && !(await shell.confirm(question, entity))) {
    throw new CliError('Nothing was forgotten: type the entity at the prompt, or use --yes.');
  }
  let forgotten = 0;
  for (const mark of found) if (await forgetRefusal(marks, mark, shell.now())) forgotten += 1;
  shell.print(`${forgotten} refusals of ${entity} are forgotten.`, { entity, forgotten });
  return 0;
};
