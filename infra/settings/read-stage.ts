import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stagePattern } from '../../lib/aws/stage.ts';
import { ConfigError } from './config-error.ts';
import { mayBeSetting, settingNames } from './settings.ts';

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings of a stage: from `stages/<stage>.json`, then from the context, which wins. A stage without a file, such as one
 * for an emulator, has all of them in the context.
 *
 * @param context of the command line, or of the app with it
 * @param directory of the checkout
 * @throws {ConfigError} for a file that is not one of settings, and for settings in `cdk.json`, where a second stage would inherit them
 */
export const readStage = (context: Settings, directory = process.cwd()): Settings => {
  const { stage } = context;
  refuseInCdkJson(directory);
  if (typeof stage !== 'string' || !stagePattern.test(stage)) return context;
  const name = `stages/${stage}.json`;
  const file = join(directory, name);
  if (existsSync(file)) return { ...settingsIn(name, readFileSync(file, 'utf8')), ...context };
  if (context.providerBaseUrl !== undefined) return context;
  throw new ConfigError(
    `There is no ${name}. It has the settings of the stage ${stage}, at least providerBaseUrl and alarmTopicArn (docs/settings.md).`,
  );
};

const refuseInCdkJson = (directory: string): void => {
  const file = join(directory, 'cdk.json');
  const { context = {} } = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { context?: Settings })
    : {};
  const names = Object.keys(context).filter((name) => settingNames.includes(name));
  if (names.length === 0) return;
  throw new ConfigError(
    `cdk.json has settings: ${names.join(', ')}. Move them into stages/<stage>.json (docs/settings.md), as those in cdk.json would be of every stage.`,
  );
};

/** `$schema` is for editors. The stage is the name of the file, so that a copy is another stage. */
const settingsIn = (name: string, text: string): Settings => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new ConfigError(`${name} must be JSON: ${(cause as SyntaxError).message}.`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ConfigError(`${name} must be one object, with a setting in each member.`);
  }
  const { $schema: _, ...settings } = parsed as Record<string, unknown>;
  if ('stage' in settings) {
    throw new ConfigError(`${name} must not have the setting stage: the name of the file is the stage.`);
  }
  // readConfig ignores a name that could be a flag of CDK.
  const unknown = Object.keys(settings).filter((key) => !mayBeSetting(key));
  if (unknown.length > 0) throw new ConfigError(`${name} has unknown settings: ${unknown.join(', ')}.`);
  return settings;
};
