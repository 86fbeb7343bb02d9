import { readFileSync } from 'node:fs';
import { readConfig } from '../../infra/settings/config.ts';
import { settingNames } from '../../infra/settings/settings.ts';
import { everyOption, type Resource, required, synthesize } from '../unit/infra/synth.ts';

/**
 * The types that keep something: data, keys, messages, running executions, addresses. Of each, the properties that cannot change
 * without a new resource, as AWS's schemas say. `npm run second-opinion` compares them with cfn-lint's copy.
 */
export const createOnly: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('create-only.json', import.meta.url), 'utf8'),
);

/** Before the name of an index, as the name of a property. */
export const indexPrefix = 'index ';

/** What a resource is, as far as a change would replace it. By property, as text. */
export type Stored = Readonly<Record<string, string>>;
export type StoredResources = Readonly<Record<string, Readonly<Record<string, Stored>>>>;

type Index = { readonly IndexName: string };

/** The indexes of a table, each with its keys and its projection. */
const indexesOf = ({ Properties }: Resource): Stored =>
  Object.fromEntries(
    ((Properties.GlobalSecondaryIndexes ?? []) as readonly Index[]).map(({ IndexName, ...index }) => [
      `${indexPrefix}${IndexName}`,
      JSON.stringify(index),
    ]),
  );

const storedOf = (resource: Resource): Stored => ({
  Type: resource.Type,
  ...indexesOf(resource),
  ...Object.fromEntries(
    (createOnly[resource.Type] ?? [])
      .filter((property) => resource.Properties[property] !== undefined)
      .map((property) => [property, JSON.stringify(resource.Properties[property])]),
  ),
});

/** Of a template, by logical id: a resource with another one is another resource. */
const storedIn = (template: object): Readonly<Record<string, Stored>> => {
  const { Resources } = template as { readonly Resources: Readonly<Record<string, Resource>> };
  return Object.fromEntries(
    Object.entries(Resources)
      .filter(([, { Type }]) => createOnly[Type] !== undefined)
      .map(([id, resource]) => [id, storedOf(resource)]),
  );
};

const texts: Readonly<Record<string, string>> = {
  consentPdfEndpoint: 'GET /api/v9/consents/{consentId}/pdf',
  revokeConsentEndpoint: 'DELETE /api/v9/consents/{consentId}',
  startExtractionV2Endpoint: 'POST /api/v9/tasks',
  pollExtractionV2Endpoint: 'GET /api/v9/tasks/{taskId}',
  pageTopicArn: 'arn:aws:sns:eu-west-1:111122223333:pages',
  runbookUrl: 'https://runbook.example',
};

type Settings = Readonly<Record<string, unknown>>;

const isValid = (settings: Settings): boolean => {
  try {
    readConfig({ ...required, ...settings });
    return true;
  } catch {
    return false;
  }
};

const byDefault = readConfig(required) as Settings;

/** These settings and another value of one more: the nearest that agrees with them. */
const withOther = (settings: Settings, name: string): Settings => {
  const value = byDefault[name];
  if (name in settings) return settings;
  const candidates =
    typeof value === 'boolean'
      ? [!value]
      : typeof value === 'number'
        ? [value + 1, value - 1, value * 2]
        : [texts[name]];
  const found = candidates.map((other) => ({ ...settings, [name]: other })).find(isValid);
  if (found === undefined)
    throw new Error(`The setting ${name} needs a value here that agrees with the others.`);
  return found;
};

/** Every setting with another value than its default, except the stage, whose name is in all names. */
const everySettingChanged = (): Settings =>
  settingNames
    .filter((name) => !(name in required))
    .reduce(withOther, { ...everyOption, providerBaseUrl: 'https://other.example' });

/** Of today: by default, and with each setting changed, which adds some. */
export const storedResources = (): StoredResources => ({
  default: storedIn(synthesize().template.toJSON()),
  'with every setting changed': storedIn(synthesize(everySettingChanged()).template.toJSON()),
});
