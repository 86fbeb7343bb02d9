import * as v from 'valibot';
import { settingChapters } from './settings.ts';

const introduction = `# Settings

Generated from [infra/settings/settings.ts](../infra/settings/settings.ts) by \`npm run docs:settings\`; a test fails while the two differ.

Put your settings into \`context\` of \`cdk.json\`, and run \`npx cdk diff\` before you deploy. A setting that you omit returns to its
default with the next deployment. One on the command line, as \`-c name=value\`, wins over \`cdk.json\` for that command only. An unknown
name, a value out of range and settings that contradict each other are refused at synthesis, with a sentence for each.`;

const tableHead = '| setting | default | values | description |\n| --- | --- | --- | --- |';

type Setting = v.GenericSchema | v.OptionalSchema<v.GenericSchema, unknown>;

const defaultOf = (setting: Setting): string => {
  if (!('wrapped' in setting)) return 'required';
  if (setting.default === undefined || setting.default === '') return 'none';
  return `\`${String(setting.default)}\``;
};

const row = ([name, setting]: [string, Setting]): string => {
  const { values, description, reason } = v.getMetadata('wrapped' in setting ? setting.wrapped : setting);
  const sentences = [description, reason].filter((text) => text !== undefined).join(' ');
  return `| \`${name}\` | ${defaultOf(setting)} | ${String(values)} | ${sentences} |`;
};

/** The text of docs/settings.md. */
export const settingsPage = (): string => {
  const chapters = Object.entries(settingChapters).map(([title, settings]) =>
    [`## ${title}\n`, tableHead, ...Object.entries(settings).map(row)].join('\n'),
  );
  return `${[introduction, ...chapters].join('\n\n')}\n`;
};
