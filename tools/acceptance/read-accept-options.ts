import { Command, InvalidArgumentError, Option } from 'commander';
import { disposableStagePattern, LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { parseOptions, wrongOptions } from '../local/parse-options.ts';
import type { Check } from './checks/check.ts';
import { chooseChecks } from './checks/checks.ts';

type Options = {
  readonly context?: Readonly<Record<string, string>>;
  readonly only?: string;
  readonly skip?: string;
  /** Of an emulator: `emulatorApiUrl`. */
  readonly apiPath?: string;
  /** `true`: to a later version of today's. */
  readonly upgrade?: string | true;
} & Readonly<Partial<Record<'emulator' | 'keep' | 'again' | 'destroy' | 'json', true>>>;

export type AcceptOptions = Omit<Options, 'context' | 'only' | 'skip'> & {
  readonly stage: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
};

const addSetting = (setting: string, before: Readonly<Record<string, string>> = {}) => {
  const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(setting) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It is not <setting>=<value>.');
  return { ...before, [name]: value };
};

const idsOf = (list: string | undefined): readonly string[] | undefined =>
  list?.split(',').map((id) => id.trim());

const readApiPath = (path: string): string => {
  if (path.startsWith('/') && path.split('{apiId}').length === 2) return path;
  throw new InvalidArgumentError('It must start with "/" and contain {apiId} once.');
};

const way = (name: string, description: string): Option => {
  const ways = ['emulator', 'keep', 'again', 'destroy'];
  return new Option(`--${name}`, description).conflicts(ways.filter((one) => one !== name));
};

/** @throws {UsageError} with the problem and the usage, {CliError} for an unknown check */
export const readAcceptOptions = (
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): AcceptOptions | 'help' => {
  const program = new Command('npm run accept --')
    .description('Deploys a stage with a fake provider to AWS, checks it, and destroys it.')
    .option(
      '-c, --context <setting=value>',
      'a setting of the app; the stage is accept, or accept-<name>',
      addSetting,
    )
    .addOption(way('keep', 'leave the stage'))
    .addOption(way('again', 'only check a stage that was kept'))
    .addOption(way('destroy', 'only destroy a stage that was kept'))
    .addOption(way('emulator', 'run on an emulator on this machine, without AWS'))
    .addOption(
      new Option(
        '--upgrade [commit]',
        'update the stage in place, to that version, under extractions',
      ).conflicts(['again', 'destroy', 'only']),
    )
    .addOption(
      new Option(
        '--api-path <path>',
        'run on the emulator that AWS_ENDPOINT_URL names, without changes for it; where it serves an HTTP API, with {apiId}',
      )
        .argParser(readApiPath)
        .conflicts('emulator'),
    )
    .option('--only <ids>', 'only these checks, separated by commas')
    .option('--skip <ids>', 'all but these')
    .option('--json', 'print each result as one JSON object per line');
  const options = parseOptions<Options>(program, args);
  if (options === 'help') return options;
  const { context = {}, only, skip, ...rest } = options;
  const isNamed = rest.apiPath !== undefined;
  const { stage = isNamed ? LOCAL_STAGE : 'accept', ...settings } = context;
  if (!disposableStagePattern.test(stage) || (stage === LOCAL_STAGE && !isNamed)) {
    const problem = `The stage must be accept or accept-<name>, not "${stage}": everything in it is destroyed.`;
    throw wrongOptions(program, problem);
  }
  if (isNamed && !env.AWS_ENDPOINT_URL)
    throw wrongOptions(program, 'AWS_ENDPOINT_URL is not set: --api-path is for the emulator that it names.');
  if (!isNamed && env.AWS_ENDPOINT_URL && !rest.emulator) {
    const problem =
      'AWS_ENDPOINT_URL names an emulator. Say with --api-path where it serves an HTTP API, or unset it.';
    throw wrongOptions(program, problem);
  }
  return { ...rest, stage, settings, checks: chooseChecks(idsOf(only), idsOf(skip)) };
};
