import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { taskActions } from '#lib/provider/vocabulary.ts';

type Examples = Readonly<Record<string, { readonly value: unknown }>>;

export type Media = {
  readonly schema: unknown;
  readonly examples?: Examples;
  /** Our extension: bodies that are refused, with the pointers of their violations. */
  readonly 'x-refused'?: readonly {
    readonly reason: string;
    readonly pointers: readonly string[];
    readonly value: unknown;
  }[];
};

type Content = Readonly<Record<string, Media>>;
type Response = { readonly $ref?: string; readonly content?: Content };
type Parameter = {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
};

type Operation = {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};

type Document = {
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Record<string, unknown>>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
};

export const openapiFile = new URL('../../../docs/openapi.yaml', import.meta.url);
export const openapi = parse(readFileSync(openapiFile, 'utf8')) as Document;

/** Every operation by its route key, as API Gateway names it. */
export const operations: readonly (readonly [routeKey: string, Operation])[] = Object.entries(
  openapi.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
  ),
);

/** The operation of a route. */
export const operationOf = (routeKey: string): Operation => {
  const found = operations.find(([key]) => key === routeKey)?.[1];
  if (found === undefined) throw new Error(`${routeKey} is not in docs/openapi.yaml`);
  return found;
};

/** The name of a component in its `$ref`. */
const nameIn = (ref: string): string => ref.split('/').at(-1) ?? '';

export const responseOf = (response: Response): Response =>
  response.$ref === undefined ? response : (openapi.components.responses[nameIn(response.$ref)] ?? {});

export const parameterOf = (parameter: Parameter): Parameter =>
  parameter.$ref === undefined ? parameter : (openapi.components.parameters[nameIn(parameter.$ref)] ?? {});

/** What the provider returns, and what closes nothing by itself, as others compose it. */
const alwaysOpen = new Set(['Consent', 'ConsentPage', 'ConsentPdf', 'RevokedConsent', 'Delivery']);

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [
      name === 'x-extensible-enum' ? 'enum' : name,
      closed(part),
    ]),
  );
  const isOpen =
    isObject(schema.properties) && schema.type === 'object' && schema.additionalProperties === undefined;
  return isOpen ? { ...inner, unevaluatedProperties: false } : inner;
};

/** A problem of the service, or an answer of API Gateway: the schema has both in one, as most generators make one class of it. */
const problemOfOneSource = () => {
  const { properties, ...problem } = closed(openapi.components.schemas.Problem) as Record<string, object>;
  const { message, ...ofService } = properties as Readonly<Record<string, object>>;
  return {
    anyOf: [
      { ...problem, properties: ofService, required: ['type', 'title', 'status'] },
      { ...problem, properties: { message }, required: ['message'] },
    ],
  };
};

const { Action } = openapi.components.schemas as unknown as {
  readonly Action: { readonly properties: { readonly params: object } };
};

/** The schema of an action without the setting `moreActions`: the ids and params of the vocabulary. */
const listedAction = {
  oneOf: Object.entries(taskActions).map(([id, params]) => ({
    ...Action,
    properties: { id: { const: id }, ...(params === 'none' ? {} : { params: Action.properties.params }) },
    required: params === 'none' ? ['id'] : ['id', 'params'],
  })),
};

/** The document as a deployment without settings answers. */
const plainOpenapi = {
  ...openapi,
  components: { ...openapi.components, schemas: { ...openapi.components.schemas, Action: listedAction } },
};

/** The document without the room for later versions, as this version has to answer. */
const closedOpenapi = {
  ...openapi,
  components: {
    ...openapi.components,
    schemas: {
      ...Object.fromEntries(
        Object.entries(openapi.components.schemas).map(([name, schema]) => [
          name,
          alwaysOpen.has(name) ? schema : closed(schema),
        ]),
      ),
      // Others compose it, so that it closes nothing by itself.
      Progress: {
        ...(closed(openapi.components.schemas.Progress) as object),
        unevaluatedProperties: undefined,
      },
      Problem: problemOfOneSource(),
      RequestedAction: listedAction,
    },
  },
};

// Not strict, because `example` and other keywords are OpenAPI's and not JSON Schema's.
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
// ajv-formats also accepts `urn:uuid:…`, which is a URN and not a UUID (RFC 9562, section 4).
ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
// ajv compares items by calling their `toString` and `valueOf`, and throws where JSON has fields with these names.
ajv.removeKeyword('uniqueItems');
ajv.addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: readonly unknown[]) =>
    !isWanted ||
    items.every((item, index) => !items.slice(0, index).some((other) => isDeepStrictEqual(item, other))),
});
ajv.addSchema(plainOpenapi, 'openapi');
ajv.addSchema(closedOpenapi, 'closed');

/** Compiles a schema into a function that returns the violations of a value. */
export const violationsOf = (
  schema: unknown,
  document: 'openapi' | 'closed' = 'openapi',
): ((value: unknown) => readonly string[]) => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${document}#/components/`);
  const fits = ajv.compile(JSON.parse(text) as object);
  return (value) =>
    fits(value) ? [] : (fits.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
};

/** The violations of a schema by a value, as ajv reports them. Empty if it fits. */
export const schemaViolations = (schema: unknown, value: unknown): readonly string[] =>
  violationsOf(schema)(value);

/** The same without what the schema leaves open for later versions. */
export const closedSchemaViolations = (schema: unknown, value: unknown): readonly string[] =>
  violationsOf(schema, 'closed')(value);

/** A schema of `components/schemas` by name. */
export const schemaNamed = (name: string) => ({ $ref: `#/components/schemas/${name}` });
