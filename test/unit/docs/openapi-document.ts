import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

type Examples = Readonly<Record<string, { readonly value: unknown }>>;

export type Media = {
  readonly schema: unknown;
  readonly examples?: Examples;
  /** Ours: bodies that are refused, and where. */
  readonly 'x-refused'?: readonly {
    readonly why: string;
    readonly pointers: readonly string[];
    readonly value: unknown;
  }[];
};

type Content = Readonly<Record<string, Media>>;
export type Response = { readonly $ref?: string; readonly content?: Content };
type Parameter = {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
};

export type Operation = {
  readonly operationId: string;
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

/** What a component is known by at the end of its `$ref`. */
const nameIn = (ref: string): string => ref.split('/').at(-1) ?? '';

export const responseOf = (response: Response): Response =>
  response.$ref === undefined ? response : (openapi.components.responses[nameIn(response.$ref)] ?? {});

export const parameterOf = (parameter: Parameter): Parameter =>
  parameter.$ref === undefined ? parameter : (openapi.components.parameters[nameIn(parameter.$ref)] ?? {});

// Not strict: `example`, `description` and the like are OpenAPI's, not JSON Schema's.
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
// ajv-formats takes `urn:uuid:…` too, which is a URN of a UUID (RFC 9562, section 4), and no UUID.
ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
ajv.addSchema(openapi, 'openapi');

/** `misfits` of one schema, compiled once, for many values. */
export const misfitsOf = (schema: unknown): ((value: unknown) => readonly string[]) => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  const fits = ajv.compile(JSON.parse(text) as object);
  return (value) =>
    fits(value) ? [] : (fits.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
};

/** What of a value does not fit the schema, in ajv's words; nothing if it fits. */
export const misfits = (schema: unknown, value: unknown): readonly string[] => misfitsOf(schema)(value);

/** A schema of `components/schemas` by name. */
export const schemaNamed = (name: string) => ({ $ref: `#/components/schemas/${name}` });
