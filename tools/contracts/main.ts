import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../local/paths.ts';
import { findBreaks } from './find-breaks.ts';
import type { Schema } from './schema.ts';
import { contractSchemas } from './schemas.ts';

// `npm run docs:schemas`: writes docs/schemas, unless that would break what the files promise.
const schemas = Object.entries(contractSchemas());
const breaks: string[] = [];
for (const [name, schema] of schemas) {
  const published = await readFile(join(repository, 'docs/schemas', name), 'utf8').catch(() => '{}');
  breaks.push(...findBreaks(JSON.parse(published) as Schema, schema).map((what) => `${name}: ${what}`));
}
if (breaks.length === 0) {
  for (const [name, schema] of schemas) {
    await writeFile(join(repository, 'docs/schemas', name), `${JSON.stringify(schema, null, 2)}\n`);
  }
} else {
  console.error(breaks.join('\n'));
  process.exitCode = 1;
}
