import * as v from 'valibot';
import { settingChapters } from './settings.ts';

/** What the page, the schema for editors, the type of the package and the contract of a release say of a setting. */
export type DocumentedSetting = {
  readonly chapter: string;
  readonly name: string;
  readonly isRequired: boolean;
  /** An empty text where a list is empty by default. */
  readonly byDefault: unknown;
  /** A number or a boolean may also come as text, and a list as one text. */
  readonly type: 'number' | 'boolean' | 'string' | 'array';
  readonly values: string;
  readonly description: string;
  readonly reason: string | undefined;
};

type Schema = {
  readonly type: string;
  readonly pipe?: readonly Schema[];
  readonly options?: readonly Schema[];
};

/** That of the first schema of a pipe, and of the first option of a union. */
const typeOf = ({ type, pipe, options }: Schema): string => {
  const first = pipe?.[0] ?? options?.[0];
  return first === undefined ? type : typeOf(first);
};

export const documentedSettings: readonly DocumentedSetting[] = Object.entries(settingChapters).flatMap(
  ([chapter, settings]) =>
    Object.entries(settings).map(
      ([name, setting]: [string, v.GenericSchema | v.OptionalSchema<v.GenericSchema, unknown>]) => {
        const [schema, byDefault] = 'wrapped' in setting ? [setting.wrapped, setting.default] : [setting];
        return {
          chapter,
          name,
          isRequired: schema === setting,
          byDefault,
          type: typeOf(schema as unknown as Schema),
          ...v.getMetadata(schema),
        } as DocumentedSetting;
      },
    ),
);
