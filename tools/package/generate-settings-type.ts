import * as v from 'valibot';
import { settingChapters } from '../../infra/settings/settings.ts';

const head = `/** The settings of a deployment, as in docs/settings.md. One that is left out has its default. */
export type CosechaSettings = {`;

type Schema = {
  readonly type: string;
  readonly pipe?: readonly Schema[];
  readonly options?: readonly Schema[];
};

/** The TypeScript type of what a setting takes. A number or a boolean may also come as text, from the command line. */
const typeOf = ({ type, pipe, options }: Schema): string => {
  const [first] = pipe ?? [];
  if (first !== undefined) return typeOf(first);
  if (type === 'union' && options?.[0] !== undefined) return typeOf(options[0]);
  return type === 'array' ? 'readonly string[]' : type;
};

const property = ([name, setting]: [string, v.GenericSchema]): string => {
  const schema = 'wrapped' in setting ? (setting.wrapped as v.GenericSchema) : setting;
  const { values, description, reason } = v.getMetadata(schema);
  const byDefault = 'default' in setting && setting.default !== '' ? setting.default : undefined;
  const lines = [
    description,
    reason,
    `${String(values)[0]?.toUpperCase()}${String(values).slice(1)}.`,
    byDefault === undefined ? undefined : `Default: ${String(byDefault)}.`,
  ].filter((line) => line !== undefined);
  const optional = 'wrapped' in setting ? '?' : '';
  return `  /**\n${lines.map((line) => `   * ${line}\n`).join('')}   */\n  readonly ${name}${optional}: ${typeOf(schema as unknown as Schema)}${optional && ' | undefined'};`;
};

/** The declarations that take the place of infra/settings/settings-type.ts in the package: every setting with its description. */
export const generateSettingsType = (): string => {
  const settings = Object.entries(
    Object.assign({}, ...Object.values(settingChapters)) as Record<string, v.GenericSchema>,
  );
  const properties = settings.map(property);
  return `${[head, ...properties, '};'].join('\n')}\n`;
};
