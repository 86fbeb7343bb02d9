import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseSessionRequest } from '#lib/consents/parse-session-request.ts';
import { advices } from '#lib/extraction/advice.ts';
import { parseErasureRequest } from '#lib/extraction/api/answer-erasure.ts';
import {
  type ConsentRequest,
  type CredentialsRequest,
  extractionRequestParser,
} from '#lib/extraction/api/parse-request.ts';
import { publicView } from '#lib/extraction/api/public-view.ts';
import { ownOutcomes, terminalStatuses } from '#lib/extraction/record.ts';
import type { BodyViolation } from '#lib/http/body-fields.ts';
import { problem, problemTypes, problemUri } from '#lib/http/problem.ts';
import { consentIdPattern, nationalIdPattern } from '#lib/provider/assumptions.ts';
import type { LegalPersonOtpTokenRequest } from '#lib/provider/tokens/create-otp-token.ts';
import { entityTypes, productTypes } from '#lib/provider/vocabulary.ts';
import { parseDelivery } from '#lib/webhook/receive-delivery.ts';
import { internalAttributes } from '../../../tools/contracts/record-schema.ts';
import { kinds } from '../../../tools/contracts/stream-record-schema.ts';
import { propertiesOf, synthesize } from '../infra/synth.ts';
import { publishedSchemas } from './contract-schemas.ts';
import {
  closedSchemaViolations,
  isObject,
  type Media,
  openapi,
  openapiFile,
  operationOf,
  operations,
  parameterOf,
  responseOf,
  schemaNamed,
  schemaViolations,
} from './openapi-document.ts';
import { read } from './pages.ts';

const apiPage = read('docs/api.md');

/** The fields that the stack or the header adds are not in the body. */
type LegalSession = Omit<LegalPersonOtpTokenRequest, 'clientId' | 'widgetConfigId' | 'company'>;

/** Each content of each answer. */
const answers = operations.flatMap(([routeKey, { responses }]) =>
  Object.entries(responses).flatMap(([status, response]) =>
    Object.entries(responseOf(response).content ?? {}).map(([type, media]) => ({
      where: `${routeKey} ${status}`,
      status,
      type,
      ...media,
    })),
  ),
);

describe('the routes of docs/openapi.yaml', () => {
  test('are those of the deployed API, with its authorization', () => {
    const routes = propertiesOf(synthesize({ callersMayErase: 'true' }).template, 'AWS::ApiGatewayV2::Route');
    const deployed = routes.map(({ RouteKey, AuthorizationType }) => [RouteKey, AuthorizationType]);
    const documented = operations.map(([routeKey, { security = openapi.security }]) => [
      routeKey,
      security.some((way) => 'sigv4' in way) ? 'AWS_IAM' : 'NONE',
    ]);
    expect(documented.toSorted()).toEqual(deployed.toSorted());
  });

  test('have every answer that API Gateway gives by itself, in a form that takes its body and that of the service', () => {
    for (const [routeKey, { requestBody, responses }] of operations) {
      const own = ['403', '429', '500', '503', ...(requestBody === undefined ? [] : ['413'])];
      expect([routeKey, Object.keys(responses)]).toEqual([routeKey, expect.arrayContaining(own)]);
    }
    for (const { where, status, type, schema } of answers.filter(({ status }) => !status.startsWith('2'))) {
      const bodies = [
        { message: 'Too Many Requests' },
        { type: problemUri('internal'), title: 't', status: Number(status) },
      ];
      for (const body of bodies) {
        expect([where, type, closedSchemaViolations(schema, body)]).toEqual([where, type, []]);
      }
    }
    const gateways = answers.filter(
      ({ status, type }) => !status.startsWith('2') && type === 'application/json',
    );
    const errors = operations.flatMap(([, { responses }]) =>
      Object.keys(responses).filter((status) => !status.startsWith('2')),
    );
    expect(gateways).toHaveLength(errors.length);
  });

  test('need the target header where they are of consents', () => {
    for (const [routeKey, { parameters = [] }] of operations) {
      const user = parameters.map(parameterOf).find((one) => one.name === 'Cosecha-Target');
      expect([routeKey, user?.required ?? false]).toEqual([routeKey, routeKey.includes('/consent')]);
    }
  });

  test('have examples that fit their schemas', () => {
    for (const { where, schema, examples = {} } of answers) {
      for (const [name, { value }] of Object.entries(examples)) {
        expect([where, name, closedSchemaViolations(schema, value)]).toEqual([where, name, []]);
      }
    }
  });

  test('accept a field and a value of a later version in every response, as CHANGELOG.md promises', () => {
    const closing = new Set<string>();
    const find = (schema: unknown, path: string): void => {
      if (Array.isArray(schema)) for (const one of schema) find(one, path);
      if (!isObject(schema)) return;
      const { $ref, additionalProperties, unevaluatedProperties, enum: values, ...parts } = schema;
      if (typeof $ref === 'string') {
        const name = $ref.split('/').at(-1) ?? '';
        find(openapi.components.schemas[name], name);
      }
      if ([additionalProperties, unevaluatedProperties].includes(false)) closing.add(`${path}: fields`);
      if (values !== undefined) closing.add(`${path}: values`);
      for (const [name, part] of Object.entries(parts)) find(part, `${path}.${name}`);
    };
    for (const { where, schema } of answers) find(schema, where);
    expect([...closing]).toEqual([]);
  });

  test('have example problems with the title and status of the service', () => {
    for (const { status, type, examples = {} } of answers) {
      if (type !== 'application/problem+json') continue;
      for (const { value } of Object.values(examples)) {
        const documented = value as { type: string; title: string; status: number };
        const known = problemTypes.find((one) => problemUri(one) === documented.type);
        const real = JSON.parse(problem(known ?? 'internal').body ?? '') as typeof documented;
        expect(documented).toMatchObject({ type: real.type, title: real.title, status: real.status });
        expect(String(documented.status)).toBe(status);
      }
    }
  });
});

type Parsed =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly violations: readonly BodyViolation[] };

const bodies: readonly (readonly [routeKey: string, parse: (body: unknown) => Parsed])[] = [
  ['POST /extractions', extractionRequestParser({})],
  ['POST /erasures', parseErasureRequest],
  ['POST /consent-sessions', (body) => parseSessionRequest(body, '11111111-1')],
];

const mediaOf = (routeKey: string): Media => {
  const media = operationOf(routeKey).requestBody?.content['application/json'];
  if (media === undefined) throw new Error(`${routeKey} has no JSON body`);
  return media;
};

describe.each(bodies)('the body of %s', (routeKey, parse) => {
  const media = mediaOf(routeKey);
  const examples = Object.entries(media.examples ?? {});

  test.each(examples)('is accepted as in the example %s', (_, { value }) => {
    expect(schemaViolations(media.schema, value)).toEqual([]);
    expect(parse(value)).toMatchObject({ kind: 'valid' });
  });

  test.each(media['x-refused'] ?? [])('is refused as documented: $reason', ({ value, pointers }) => {
    expect(schemaViolations(media.schema, value)).not.toEqual([]);
    const parsed = parse(value);
    expect(parsed.kind === 'invalid' ? parsed.violations.map(({ pointer }) => pointer) : []).toEqual(
      pointers,
    );
  });
});

test('the body of a delivery is accepted as in the example', () => {
  const media = mediaOf('POST /webhooks/provider');
  for (const { value } of Object.values(media.examples ?? {})) {
    expect(schemaViolations(media.schema, value)).toEqual([]);
    expect(parseDelivery(Buffer.from(JSON.stringify(value)), 'key')).toMatchObject({ kind: 'terminal' });
  }
});

describe('the schemas of docs/openapi.yaml', () => {
  const schema = (name: string): Record<string, unknown> => openapi.components.schemas[name] ?? {};
  const enumOf = (name: string): readonly unknown[] => schema(name).enum as readonly unknown[];
  const fieldsOf = (name: string): readonly string[] => Object.keys(schema(name).properties as object);

  test('have the same values as the code', () => {
    expect(enumOf('Product')).toEqual([...productTypes]);
    expect(enumOf('EntityType')).toEqual([...entityTypes]);
    const known = (open: Record<string, unknown>) => open['x-extensible-enum'] as readonly string[];
    expect(known(schema('Status'))).toEqual([
      'REQUESTED',
      'STARTING',
      'RUNNING',
      ...terminalStatuses,
      ...ownOutcomes,
    ]);
    expect(known(schema('Advice'))).toEqual(Object.keys(advices));
    expect(schema('ConsentId').pattern).toBe(consentIdPattern.source);
    expect(schema('NationalId').pattern).toBe(nationalIdPattern.source);
    const problems = known((schema('Problem').properties as { type: Record<string, unknown> }).type);
    expect(problems?.toSorted()).toEqual(problemTypes.map(problemUri).toSorted());
  });

  test('name the values that they know of an open vocabulary where people read them', () => {
    const open: Record<string, unknown>[] = [];
    const find = (part: unknown): void => {
      if (Array.isArray(part)) for (const one of part) find(one);
      if (!isObject(part)) return;
      if ('x-extensible-enum' in part) open.push(part);
      for (const one of Object.values(part)) find(one);
    };
    find(openapi.components.schemas);
    expect(open.length).toBeGreaterThan(6);
    for (const { type, description, 'x-extensible-enum': values } of open) {
      expect(type).toBe('string');
      const text = String(description);
      if (/`(Product|Variant)`|api\.md/.test(text)) continue;
      expect((values as string[]).filter((value) => !text.includes(`\`${value}\``))).toEqual([]);
    }
  });

  test.each(['CredentialsExtraction', 'ConsentExtraction'])(
    'have every field of a %s, and no other',
    (name) => {
      const { properties = {} } = publishedSchemas['extraction.json']?.$defs?.[name] ?? {};
      const attributes = [...Object.keys(properties), ...internalAttributes];
      const record = Object.fromEntries(attributes.map((attribute) => [attribute, {}]));
      const shown = publicView(record as never, { url: '', expiresAt: '' }, 'expectedStartAt');
      expect([...fieldsOf('Progress'), ...fieldsOf(name)].toSorted()).toEqual(Object.keys(shown).toSorted());
    },
  );

  // Typed so that a new or removed field of a request does not compile without a change here.
  const ofCredentials: Record<keyof CredentialsRequest, true> = {
    method: true,
    entity: true,
    credentials: true,
    sessionToken: true,
    actions: true,
    reference: true,
    batch: true,
    priority: true,
    confirmed: true,
  };
  const ofConsent: Record<keyof ConsentRequest, true> = {
    method: true,
    product: true,
    consentId: true,
    target: true,
    variant: true,
    reference: true,
    batch: true,
    priority: true,
  };
  const ofSession: Record<'person' | keyof LegalSession, true> = {
    person: true,
    products: true,
    user: true,
    filters: true,
    locale: true,
  };

  test.each([
    [['CredentialsRequest', 'EncryptedCredentialsRequest'], ofCredentials],
    [['ConsentRequest'], ofConsent],
    [['NaturalPersonSession'], ofSession],
    [['LegalPersonSession'], ofSession],
  ])('have every field of a request: %s', (names, fields) => {
    const documented = new Set(names.flatMap(fieldsOf));
    expect([...documented].toSorted()).toEqual(Object.keys(fields).toSorted());
  });

  test('are those of the tables and bodies of docs/api.md', () => {
    const section = (route: string) => apiPage.split(`\n## ${route}\n`)[1]?.split('\n## ')[0] ?? '';
    const tables = section('POST /extractions').split('| field | required | value |').slice(1);
    const rows = tables.map((table) => table.split('\n\n')[0]?.match(/(?<=^\| `)\w+(?=`)/gm) ?? []);
    expect(rows.map((names) => names.toSorted())).toEqual(
      [ofCredentials, ofConsent].map((fields) => Object.keys(fields).toSorted()),
    );
    const bodies = section('POST /consent-sessions').match(/^```json\n[\s\S]*?^```$/gm) ?? [];
    const named = bodies.flatMap((body) => Object.keys(JSON.parse(body.slice(7, -3)) as object));
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(ofSession).toSorted());
  });

  test('accept every problem of the service, and no other', () => {
    for (const type of problemTypes) {
      const { body: text = '' } = problem(type, { detail: 'd', errors: [{ pointer: '/a', detail: 'd' }] });
      // As http-handler.ts adds it to every 5xx.
      const body: unknown = { ...JSON.parse(text), requestId: 'request-1' };
      expect([type, closedSchemaViolations(schemaNamed('Problem'), body)]).toEqual([type, []]);
    }
    const other = { type: '#other', title: 't', status: 400 };
    expect(closedSchemaViolations(schemaNamed('Problem'), other)).not.toEqual([]);
  });
});

test('docs/api.md has a heading for every route and every problem', () => {
  for (const [routeKey] of operations) expect(apiPage).toContain(`\n## ${routeKey}\n`);
  for (const type of problemTypes) expect(apiPage).toContain(`\n### ${type}\n`);
});

test('docs/openapi.yaml lints clean, warnings included', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lint({ ref: fileURLToPath(openapiFile), config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

const document = parse(read('docs/asyncapi.yaml'));

test('docs/asyncapi.yaml is valid AsyncAPI', () => {
  const require = createRequire(import.meta.url);
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(require(`@asyncapi/specs/schemas/${document.asyncapi}-without-$id.json`));
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
});

test('every schema that docs/asyncapi.yaml refers to has a title where a generator makes a model of it', () => {
  const untitled: string[] = [];
  const find = (part: unknown, path: string): void => {
    if (!isObject(part)) return;
    const { $ref, title, type, enum: values, anyOf, allOf } = part;
    const isModel =
      $ref === undefined && (type === 'object' || type === 'array' || (values ?? anyOf ?? allOf));
    if (isModel && title === undefined) untitled.push(path);
    for (const keyword of ['$defs', 'properties'])
      for (const [name, inner] of Object.entries((part[keyword] as object | undefined) ?? {}))
        find(inner, `${path} ${name}`);
    for (const inner of [part.items, anyOf, allOf].flat()) find(inner, `${path} part`);
  };
  for (const [name, schema] of Object.entries(publishedSchemas)) find(schema, name);
  expect(untitled).toEqual([]);
  const titles = JSON.stringify(publishedSchemas['event.json']).match(/(?<="title":")[^"]+/g) ?? [];
  expect(titles.length).toBeGreaterThan(12);
});

test('docs/asyncapi.yaml has a message for each kind of the stream and for the bus, with its schema', () => {
  expect(Object.keys(document.channels.stream.messages)).toEqual(Object.keys(kinds));
  const messages = Object.entries<{ payload: { schema: { $ref: string } } }>(document.components.messages);
  expect(messages.map(([name, { payload }]) => [name, payload.schema.$ref])).toEqual([
    ...Object.keys(kinds).map((kind) => [kind, `./schemas/stream-record.json#/$defs/${kind}`]),
    ['outcome', './schemas/bus-event.json'],
  ]);
});
