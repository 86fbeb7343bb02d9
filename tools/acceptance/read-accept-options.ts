import { parseArgs } from 'node:util';
import { probeStagePattern } from '../../lib/aws/stage.ts';
import { ExpectedFailure } from '../local/expected-failure.ts';

export type AcceptRunOptions = {
  readonly stage: string;
  /** Further settings of the app. */
  readonly settings: Readonly<Record<string, string>>;
  readonly emulator: boolean;
  readonly keep: boolean;
  /** Only destroy a stage that was kept. */
  readonly destroy: boolean;
  /** Arguments of `cosecha accept`. */
  readonly args: readonly string[];
};

export const usage = `Usage: npm run accept -- [-c stage=accept] [-c <setting>=<value>] [--keep] [--only <ids>] [--json]
       npm run accept -- [-c stage=accept] --destroy
       npm run accept -- --emulator [--only <ids>] [--json]

Deploys a stage with a fake provider as its provider to AWS, runs cosecha accept, and destroys the stage.

  -c <setting>=<value>  a setting of the app; the stage is accept, or accept-<name>
  --keep                leave the stage, to run npx cosecha accept again
  --destroy             only destroy a stage that was kept
  --emulator            run on an emulator on this machine, without AWS
  --only <ids>          only these checks, separated by commas
  --json                print each result as one JSON object per line`;

/** @throws ExpectedFailure with the problem and the usage */
export const readAcceptOptions = (args: readonly string[]): AcceptRunOptions | 'help' => {
  const { values } = parse(args);
  if (values.help) return 'help';
  const { stage = 'accept', ...settings } = settingsOf(values.context ?? []);
  if (!probeStagePattern.test(stage) || stage === 'local') {
    throw new ExpectedFailure(
      `The stage must be accept or accept-<name>, not "${stage}": everything in it is destroyed.\n\n${usage}`,
    );
  }
  return {
    ...{ stage, settings },
    emulator: values.emulator ?? false,
    keep: values.keep ?? false,
    destroy: values.destroy ?? false,
    args: [...(values.only === undefined ? [] : ['--only', values.only]), ...(values.json ? ['--json'] : [])],
  };
};

const settingsOf = (context: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    context.map((setting) => {
      const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(setting) ?? [];
      if (name === undefined || value === undefined) {
        throw new ExpectedFailure(`"${setting}" is not <setting>=<value>.\n\n${usage}`);
      }
      return [name, value];
    }),
  );

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        context: { type: 'string', short: 'c', multiple: true },
        emulator: { type: 'boolean' },
        keep: { type: 'boolean' },
        destroy: { type: 'boolean' },
        only: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ExpectedFailure(`${problem}.\n\n${usage}`, { cause: error });
  }
};
