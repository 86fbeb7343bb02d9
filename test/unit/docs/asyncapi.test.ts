import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kinds } from '../../../tools/contracts/stream-record-schema.ts';
import { publishedSchemas } from './contract-schemas.ts';

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
