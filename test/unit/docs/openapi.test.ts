import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { targetHeader } from '../../../lib/consents/parse-national-id-header.ts';
import { parseSessionRequest } from '../../../lib/consents/parse-session-request.ts';
import { advices } from '../../../lib/extraction/advice.ts';
import {
  type ConsentRequest,
  type CredentialsRequest,
  parseExtractionRequest,
} from '../../../lib/extraction/api/parse-request.ts';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { ownOutcomes, terminalStatuses } from '../../../lib/extraction/record.ts';
import { problem, problemTypes, problemUri } from '../../../lib/http/problem.ts';
import type { Violation } from '../../../lib/http/violation.ts';
import { consentIdPattern, nationalIdPattern } from '../../../lib/provider/assumptions.ts';
import type { LegalPersonOtpTokenRequest } from '../../../lib/provider/tokens/create-otp-token.ts';
import { entityTypes, productTypes } from '../../../lib/provider/vocabulary.ts';
import { parseDelivery } from '../../../lib/webhook/receive-delivery.ts';
import { kinds } from '../../../tools/contracts/stream-record-schema.ts';
import { resourcesOf, synthesize } from '../infra/synth.ts';
import { publishedSchemas } from './contract-schemas.ts';
import {
  closedSchemaViolations,
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

const apiPage = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

/** The fields that the stack or the header adds are not in the body. */
type LegalSession = Omit<LegalPersonOtpTokenRequest, 'clientId' | 'widgetConfigId' | 'company'>;

const routes = Object.values(resourcesOf(synthesize().template, 'AWS::ApiGatewayV2::Route'));

describe('the routes of docs/openapi.yaml', () => {
  test('are those of the deployed API, with its authorization', () => {
    const deployed = routes.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationType]);
    const documented = operations.map(([routeKey, { security = openapi.security }]) => [
      routeKey,
      security.some((way) => 'sigv4' in way) ? 'AWS_IAM' : 'NONE',
    ]);
    expect(documented.toSorted()).toEqual(deployed.toSorted());
  });

  test('name every path parameter, and the target header of consent routes', () => {
    for (const [routeKey, { parameters = [] }] of operations) {
      const named = parameters.map(parameterOf);
      const inPath = named.flatMap((one) => (one.in === 'path' ? [one.name] : []));
      expect([routeKey, inPath]).toEqual([
        routeKey,
        [...routeKey.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      ]);
      const user = named.find((one) => one.name?.toLowerCase() === targetHeader);
      expect([routeKey, user?.required ?? false]).toEqual([routeKey, routeKey.includes('/consent')]);
    }
  });

  test('have examples that fit their schemas', () => {
    for (const [routeKey, { responses }] of operations) {
      for (const [status, response] of Object.entries(responses)) {
        for (const media of Object.values(responseOf(response).content ?? {})) {
          for (const [name, { value }] of Object.entries(media.examples ?? {})) {
            expect([routeKey, status, name, closedSchemaViolations(media.schema, value)]).toEqual([
              routeKey,
              status,
              name,
              [],
            ]);
          }
        }
      }
    }
  });

  test('accept a field and a value of a later version in every response, as CHANGELOG.md promises', () => {
    const closing = new Set<string>();
    const find = (schema: unknown, path: string, isOneOfSome = false): void => {
      if (Array.isArray(schema)) for (const one of schema) find(one, path, isOneOfSome);
      if (!isObject(schema)) return;
      const { $ref, additionalProperties, unevaluatedProperties, enum: values, anyOf, ...parts } = schema;
      if (typeof $ref === 'string') {
        const name = $ref.split('/').at(-1) ?? '';
        find(openapi.components.schemas[name], name, isOneOfSome);
      }
      if ([additionalProperties, unevaluatedProperties].includes(false)) closing.add(`${path}: fields`);
      if (values !== undefined && !isOneOfSome) closing.add(`${path}: values`);
      find(anyOf, path, JSON.stringify(anyOf)?.includes('/LaterValue"'));
      for (const [name, part] of Object.entries(parts)) find(part, `${path}.${name}`);
    };
    for (const [routeKey, { responses }] of operations) {
      for (const [status, response] of Object.entries(responses)) {
        for (const { schema } of Object.values(responseOf(response).content ?? {})) {
          find(schema, `${routeKey} ${status}`);
        }
      }
    }
    expect([...closing]).toEqual([]);
  });

  test('have example problems with the title and status of the service', () => {
    for (const [, { responses }] of operations) {
      for (const [status, response] of Object.entries(responses)) {
        const media = responseOf(response).content?.['application/problem+json'];
        for (const { value } of Object.values(media?.examples ?? {})) {
          const documented = value as { type: string; title: string; status: number };
          const type = problemTypes.find((one) => problemUri(one) === documented.type);
          const real = JSON.parse(problem(type ?? 'internal').body ?? '') as typeof documented;
          expect([documented.type, documented.title, documented.status]).toEqual([
            real.type,
            real.title,
            real.status,
          ]);
          expect(String(documented.status)).toBe(status);
        }
      }
    }
  });
});

type Parsed =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

const bodies: readonly (readonly [routeKey: string, parse: (body: unknown) => Parsed])[] = [
  ['POST /extractions', parseExtractionRequest],
  ['POST /consent-sessions', (body) => parseSessionRequest(body, '11111111-1')],
];

const mediaOf = (routeKey: string): Media => {
  const media = operationOf(routeKey).requestBody?.content['application/json'];
  if (media === undefined) throw new Error(`${routeKey} has no JSON body`);
  return media;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every value that differs in one place: a field is missing, extra, or has another value. */
function* mutations(value: unknown): Generator<unknown> {
  yield* [7, '', null, true, [], {}, 'other'];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const other of mutations(item)) yield value.with(index, other);
    }
    yield [...value, ...value];
  }
  if (!isObject(value)) return;
  yield { ...value, unknown: 'field' };
  for (const [name, field] of Object.entries(value)) {
    const { [name]: _gone, ...rest } = value;
    yield rest;
    for (const other of mutations(field)) yield { ...value, [name]: other };
  }
}

describe.each(bodies)('the body of %s', (routeKey, parse) => {
  const media = mediaOf(routeKey);
  const examples = Object.entries(media.examples ?? {});

  test.each(examples)('is accepted as in the example %s', (_, { value }) => {
    expect(schemaViolations(media.schema, value)).toEqual([]);
    expect(parse(value)).toMatchObject({ kind: 'valid' });
  });

  test.each(media['x-refused'] ?? [])('is refused as documented: $why', ({ value, pointers }) => {
    expect(schemaViolations(media.schema, value)).not.toEqual([]);
    const parsed = parse(value);
    expect(parsed.kind === 'invalid' ? parsed.violations.map(({ pointer }) => pointer) : []).toEqual(
      pointers,
    );
  });

  test.each(examples)(
    'is accepted and refused as documented, with one change to the example %s',
    (_, { value }) => {
      const all = [...mutations(value)];
      expect(all.length).toBeGreaterThan(20);
      const differing = all.filter(
        (body) => (schemaViolations(media.schema, body).length === 0) !== (parse(body).kind === 'valid'),
      );
      expect(differing).toEqual([]);
    },
  );
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
  const propertiesOf = (name: string): readonly string[] => Object.keys(schema(name).properties as object);

  test('have the same values as the code', () => {
    expect(enumOf('Product')).toEqual([...productTypes]);
    expect(enumOf('EntityType')).toEqual([...entityTypes]);
    const known = (alternatives: unknown) =>
      (alternatives as readonly { enum: readonly string[] }[])[0]?.enum;
    expect(known(schema('Status').anyOf)).toEqual([
      'REQUESTED',
      'STARTING',
      'RUNNING',
      ...terminalStatuses,
      ...ownOutcomes,
    ]);
    const { advice } = schema('Progress').properties as { advice: { anyOf: unknown } };
    expect(known(advice.anyOf)).toEqual(Object.keys(advices));
    expect(schema('ConsentId').pattern).toBe(consentIdPattern.source);
    expect(schema('NationalId').pattern).toBe(nationalIdPattern.source);
    const problems = known((schema('Problem').properties as { type: { anyOf: unknown } }).type.anyOf);
    expect(problems?.toSorted()).toEqual(problemTypes.map(problemUri).toSorted());
  });

  test('have every field of an extraction of both methods, and no other', () => {
    type Credentials = Extract<PublicExtraction, { method: 'credentials' }>;
    type Consent = Extract<PublicExtraction, { method: 'consent' }>;
    // Typed so that a new or removed field of the record does not compile without a change here.
    const common: Record<Exclude<keyof Credentials & keyof Consent, 'method'>, true> = {
      extractionId: true,
      reference: true,
      traceparent: true,
      requestedBy: true,
      requestedAt: true,
      deadlineAt: true,
      status: true,
      startedAt: true,
      taskId: true,
      reason: true,
      lastProblem: true,
      advice: true,
      settledAt: true,
      settledBy: true,
      isFinal: true,
      actionResults: true,
      collectedAt: true,
      collectionError: true,
      results: true,
    };
    const credentials: Record<Exclude<keyof Credentials, keyof typeof common>, true> = {
      method: true,
      entity: true,
      actions: true,
    };
    const consent: Record<Exclude<keyof Consent, keyof typeof common>, true> = {
      method: true,
      product: true,
      consentId: true,
      variant: true,
    };
    expect(propertiesOf('Progress').toSorted()).toEqual(Object.keys(common).toSorted());
    expect(propertiesOf('CredentialsExtraction').toSorted()).toEqual(Object.keys(credentials).toSorted());
    expect(propertiesOf('ConsentExtraction').toSorted()).toEqual(Object.keys(consent).toSorted());
  });

  // Typed so that a new or removed field of a request does not compile without a change here.
  const ofCredentials: Record<keyof CredentialsRequest, true> = {
    method: true,
    entity: true,
    credentials: true,
    sessionToken: true,
    actions: true,
    reference: true,
    confirmed: true,
  };
  const ofConsent: Record<keyof ConsentRequest, true> = {
    method: true,
    product: true,
    consentId: true,
    target: true,
    variant: true,
    reference: true,
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
    const documented = new Set(names.flatMap(propertiesOf));
    expect([...documented].toSorted()).toEqual(Object.keys(fields).toSorted());
  });

  test('are those of the tables and bodies of docs/api.md', () => {
    const section = (route: string) => apiPage.split(`\n## ${route}\n`)[1]?.split('\n## ')[0] ?? '';
    const fieldsOf = (row: string) => row.slice(3, -1);
    const tables = section('POST /extractions').split('| field | required | value |').slice(1);
    const rows = tables.map((table) => (table.split('\n\n')[0]?.match(/^\| `\w+`/gm) ?? []).map(fieldsOf));
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
      // As answer-failures.ts adds it to every 5xx.
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

type Message = { readonly payload: { readonly schema: { readonly $ref: string } } };
type Document = {
  readonly asyncapi: string;
  readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, unknown>> }>>;
  readonly components: { readonly messages: Readonly<Record<string, Message>> };
};

const document = parse(
  readFileSync(new URL('../../../docs/asyncapi.yaml', import.meta.url), 'utf8'),
) as Document;

test('docs/asyncapi.yaml is valid AsyncAPI', () => {
  const require = createRequire(import.meta.url);
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(require(`@asyncapi/specs/schemas/${document.asyncapi}-without-$id.json`));
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
});

test('docs/asyncapi.yaml has a message for each kind of the stream and for the bus, with a schema that exists', () => {
  expect(Object.keys(document.channels.stream?.messages ?? {})).toEqual(Object.keys(kinds));
  const { messages } = document.components;
  for (const [name, { payload }] of Object.entries(messages)) {
    const [file = '', definition = ''] = payload.schema.$ref.replace('./schemas/', '').split('#/$defs/');
    const schema = publishedSchemas[file];
    expect([name, file === 'bus-event.json' ? schema : schema?.$defs?.[definition]]).not.toEqual([
      name,
      undefined,
    ]);
    expect(file === 'bus-event.json' ? 'extractionChanged' : definition).toBe(name);
  }
});
