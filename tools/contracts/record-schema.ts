import { join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';
import { repository } from '../local/paths.ts';
import type { Schema } from './json-schema-type.ts';

/** Vocabularies that may get new values without a new `schemaVersion` (docs/stream.md, "Guarantees"). */
const openVocabularies = ['ExtractionStatus', 'ProductType', 'Advice'];

/** Attributes that docs/stream.md calls internal. They may change in any version, so the schema does not have them. */
export const internalAttributes: readonly string[] = [
  'dueAt',
  'dueShard',
  'oversizedAt',
  'notBefore',
  'lastReadBegunAt',
  'readsSlowly',
  'withoutWebhook',
  'requestId',
  'fingerprint',
];

/** Attributes that are never present without others. The types do not express this. */
const presentTogether = {
  taskId: ['startedAt'],
  startedAt: ['taskId'],
  settledAt: ['settledBy'],
  settledBy: ['settledAt'],
  isFinal: ['settledAt'],
  advice: ['settledAt'],
  collectedAt: ['settledAt'],
  collectionError: ['settledAt'],
  results: ['collectedAt'],
};

const methods = ['CredentialsExtraction', 'ConsentExtraction'];

/**
 * The schema of a record, from the type `Extraction` and its comments. It accepts attributes that it does not know,
 * because a later version may add some.
 */
export const recordSchema = (): Schema => {
  const generated = createGenerator({
    path: join(repository, 'lib/extraction/record.ts'),
    tsconfig: join(repository, 'tsconfig.json'),
    type: 'Extraction',
    topRef: false,
    additionalProperties: true,
    // `npm run check` checks the types.
    skipTypeCheck: true,
  }).createSchema('Extraction');
  const { definitions = {}, anyOf = [] } = toDialect(generated);
  return {
    title: 'Extraction',
    description: 'An item of the table Extractions, as JSON without the types of DynamoDB.',
    anyOf,
    $defs: Object.fromEntries(
      Object.entries(definitions).map(([name, definition]) => [name, complete(name, definition)]),
    ),
  };
};

const complete = (name: string, definition: Schema): Schema => {
  if (methods.includes(name)) return { ...withoutInternal(definition), dependentRequired: presentTogether };
  if (!openVocabularies.includes(name)) return definition;
  const known = definition.anyOf ?? [definition];
  return { anyOf: [...known, { type: 'string', description: 'A value that a later version adds.' }] };
};

const withoutInternal = ({ properties = {}, required = [], ...rest }: Schema): Schema => ({
  ...rest,
  properties: Object.fromEntries(
    Object.entries(properties).filter(([name]) => !internalAttributes.includes(name)),
  ),
  required: required.filter((name) => !internalAttributes.includes(name)),
});

/** The generator writes draft 07. Every number of a record is an integer, which TypeScript has no type for. */
const toDialect = (generated: object): Schema & { readonly definitions?: Readonly<Record<string, Schema>> } =>
  JSON.parse(
    JSON.stringify(generated)
      .replaceAll('"#/definitions/', '"#/$defs/')
      .replaceAll('"type":"number"', '"type":"integer"'),
  );
