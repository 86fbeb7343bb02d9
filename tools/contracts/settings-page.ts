import { type DocumentedSetting, documentedSettings } from '../../infra/settings/documented-settings.ts';

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

const defaultOf = ({ isRequired, byDefault }: DocumentedSetting): string => {
  if (isRequired) return 'required';
  return byDefault === undefined || byDefault === '' ? 'none' : `\`${byDefault}\``;
};

const row = (setting: DocumentedSetting): string =>
  `| \`${setting.name}\` | ${defaultOf(setting)} | ${setting.values} | ${setting.description} |`;

/** The text of docs/settings.md. */
export const settingsPage = (): string => {
  const chapters = Object.entries(Object.groupBy(documentedSettings, ({ chapter }) => chapter));
  const tables = chapters.map(([chapter, its = []]) =>
    [`## ${chapter}\n`, tableHead, ...its.map(row)].join('\n'),
  );
  return `${[introduction, ...tables].join('\n\n')}\n`;
};

const property = ({ type, byDefault, values, description, reason }: DocumentedSetting) => ({
  description: [description, reason, `Values: ${values}.`].filter((part) => part !== undefined).join(' '),
  // A list may be text too, so it has none.
  type: type === 'array' ? undefined : type,
  default: byDefault === '' ? undefined : byDefault,
});

/** The JSON schema of `stages/<stage>.json`, for editors. The app validates more. */
export const settingsJsonSchema = (): string => {
  const settings = documentedSettings.filter(({ name }) => name !== 'stage');
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The settings of a stage of Cosecha',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(settings.map((setting) => [setting.name, property(setting)])),
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
};
