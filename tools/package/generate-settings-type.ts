import { type DocumentedSetting, documentedSettings } from '../../infra/settings/documented-settings.ts';

const head = `/** The settings of a deployment, as in docs/settings.md. One that is left out has its default. */
export type CosechaSettings = {`;

const property = ({ name, isRequired, byDefault, type, ...its }: DocumentedSetting): string => {
  const lines = [
    its.description,
    its.reason,
    `${its.values.charAt(0).toUpperCase()}${its.values.slice(1)}.`,
    byDefault === undefined || byDefault === '' ? undefined : `Default: ${byDefault}.`,
  ].filter((line) => line !== undefined);
  const taken = type === 'array' ? 'readonly string[]' : type;
  return `  /**\n${lines.map((line) => `   * ${line}\n`).join('')}   */\n  readonly ${name}${isRequired ? `: ${taken}` : `?: ${taken} | undefined`};`;
};

/** The declarations that take the place of infra/settings/settings-type.ts in the package: every setting with its description. */
export const generateSettingsType = (): string =>
  `${[head, ...documentedSettings.map(property), '};'].join('\n')}\n`;
