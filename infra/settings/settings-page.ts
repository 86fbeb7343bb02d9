import * as v from 'valibot';
import { settingChapters } from './settings.ts';

const introduction = `# Settings

Generated from [infra/settings/settings.ts](../infra/settings/settings.ts) by \`npm run docs:settings\`; a test fails while the two differ.

Put the settings of a stage into \`stages/<stage>.json\`, such as \`stages/prod.json\`:

\`\`\`json
{
  "$schema": "./settings.schema.json",
  "providerBaseUrl": "https://api.provider.example",
  "alarmTopicArn": "arn:aws:sns:eu-west-1:111122223333:on-call"
}
\`\`\`

The name of the file is the setting \`stage\`. \`npm run diff -- --stage prod\` compares it with what is deployed, and \`npm run deploy -- --stage
prod\` deploys it. A setting that you omit returns to its default with the next deployment. One on the command line, as \`-c name=value\`, wins
for that command only. An unknown name, a value out of range, settings that contradict each other and settings in \`cdk.json\` are refused at
synthesis, with a sentence for each. With the schema, editors show also why each setting is as it is.`;

const tableHead = '| setting | default | values | description |\n| --- | --- | --- | --- |';

type Setting = v.GenericSchema | v.OptionalSchema<v.GenericSchema, unknown>;

const defaultOf = (setting: Setting): string => {
  if (!('wrapped' in setting)) return 'required';
  if (setting.default === undefined || setting.default === '') return 'none';
  return `\`${String(setting.default)}\``;
};

const row = ([name, setting]: [string, Setting]): string => {
  const { values, description } = v.getMetadata('wrapped' in setting ? setting.wrapped : setting);
  return `| \`${name}\` | ${defaultOf(setting)} | ${String(values)} | ${String(description)} |`;
};

/** The text of docs/settings.md. */
export const settingsPage = (): string => {
  const chapters = Object.entries(settingChapters).map(([title, settings]) =>
    [`## ${title}\n`, tableHead, ...Object.entries(settings).map(row)].join('\n'),
  );
  return `${[introduction, ...chapters].join('\n\n')}\n`;
};

/** "number" or "boolean" as JSON has them. A list may be text too, so it has none. */
const jsonTypeOf = (schema: object): 'number' | 'boolean' | 'string' | undefined => {
  const { type, options, pipe } = schema as {
    readonly type: string;
    readonly options?: readonly object[];
    readonly pipe?: readonly object[];
  };
  const [first] = pipe ?? [];
  if (first !== undefined && first !== schema) return jsonTypeOf(first);
  if (type === 'union') {
    const [one] = (options ?? []).map(jsonTypeOf);
    return one === 'number' || one === 'boolean' ? one : undefined;
  }
  return type === 'number' || type === 'boolean' || type === 'string' ? type : undefined;
};

const property = ([name, setting]: [string, Setting]) => {
  const schema = 'wrapped' in setting ? setting.wrapped : setting;
  const { values, description, reason } = v.getMetadata(schema);
  const text = [description, reason, `Values: ${values}.`].filter((part) => part !== undefined).join(' ');
  const byDefault = 'wrapped' in setting ? setting.default : undefined;
  return [
    name,
    {
      description: text,
      type: jsonTypeOf(schema),
      ...(typeof byDefault === 'object' || byDefault === '' ? {} : { default: byDefault }),
    },
  ];
};

/** The JSON schema of `stages/<stage>.json`, for editors. The app validates more. */
export const settingsJsonSchema = (): string => {
  const settings = Object.values(settingChapters).flatMap(
    (chapter) => Object.entries(chapter) as [string, Setting][],
  );
  const properties = settings.filter(([name]) => name !== 'stage').map(property);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The settings of a stage of Cosecha',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(properties) },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
};
