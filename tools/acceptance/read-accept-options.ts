import { parseArgs } from 'node:util';
import { disposableStagePattern } from '../../lib/aws/stage.ts';
import { UsageError } from '../cli/terminal/errors.ts';
import type { Check } from './checks/check.ts';
import { chooseChecks } from './checks/checks.ts';

export type AcceptOptions = {
  readonly stage: string;
  /** Further settings of the app. */
  readonly settings: Readonly<Record<string, string>>;
  readonly emulator: boolean;
  readonly keep: boolean;
  /** Only check a stage that was kept. */
  readonly again: boolean;
  /** Only destroy a stage that was kept. */
  readonly destroy: boolean;
  readonly checks: readonly Check[];
  readonly json: boolean;
};

export const usage = `Usage: npm run accept -- [-c stage=accept] [-c <setting>=<value>] [--keep] [--only <ids>] [--json]
       npm run accept -- [-c stage=accept] --again [--only <ids>] [--json]
       npm run accept -- [-c stage=accept] --destroy
       npm run accept -- --emulator [--only <ids>] [--json]

Deploys a stage with a fake provider to AWS, checks it, and destroys it.

  -c <setting>=<value>  a setting of the app; the stage is accept, or accept-<name>
  --keep                leave the stage
  --again               only check a stage that was kept
  --destroy             only destroy a stage that was kept
  --emulator            run on an emulator on this machine, without AWS
  --only <ids>          only these checks, separated by commas
  --json                print each result as one JSON object per line`;

const wrong = (problem: string, cause?: unknown): UsageError =>
  new UsageError([problem, '', ...usage.split('\n')], { cause });

/** @throws UsageError with the problem and the usage, CliError for an unknown check */
export const readAcceptOptions = (args: readonly string[]): AcceptOptions | 'help' => {
  const { help, emulator = false, keep = false, again = false, destroy = false, ...values } = parse(args);
  if (help) return 'help';
  const { stage = 'accept', ...settings } = settingsOf(values.context ?? []);
  if (!disposableStagePattern.test(stage) || stage === 'local') {
    throw wrong(`The stage must be accept or accept-<name>, not "${stage}": everything in it is destroyed.`);
  }
  if ([emulator, keep, again, destroy].filter(Boolean).length > 1) {
    throw wrong('Only one of --emulator, --keep, --again and --destroy can be given.');
  }
  const checks = chooseChecks(values.only?.split(',').map((id) => id.trim()));
  return { ...{ stage, settings, emulator, keep, again, destroy, checks }, json: values.json ?? false };
};

const settingsOf = (context: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    context.map((setting) => {
      const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(setting) ?? [];
      if (name === undefined || value === undefined) {
        throw wrong(`"${setting}" is not <setting>=<value>.`);
      }
      return [name, value];
    }),
  );

const parse = (args: readonly string[]) => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        context: { type: 'string', short: 'c', multiple: true },
        emulator: { type: 'boolean' },
        keep: { type: 'boolean' },
        again: { type: 'boolean' },
        destroy: { type: 'boolean' },
        only: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw wrong(`${problem}.`, error);
  }
};
