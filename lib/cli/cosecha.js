#!/usr/bin/env node
// Plain JavaScript that any Node of the last years can read, so that one that is too old is told so in a sentence.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The packed package has the bundle only; a clone has the sources, which Node 24 runs as they are. */
const source = new URL('./main.ts', import.meta.url);
const isClone = existsSync(source);

/** commander 15 and the bundle want 22.12; to run TypeScript without a flag takes 24 (22.18, with a warning). */
const least = isClone ? [24, 0] : [22, 12];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < least[0] || (major === least[0] && minor < least[1])) {
  const how = isClone ? ': call it with `npx cosecha`, which takes the Node that `npm ci` installed' : '';
  console.error(
    `cosecha needs Node ${least.join('.')} or newer, and this is ${process.versions.node}${how}.`,
  );
  process.exitCode = 1;
} else {
  const { main } = await import(
    isClone ? source.href : new URL('../../dist/cosecha.js', import.meta.url).href
  );
  process.exitCode = await main(process.argv.slice(2), fileURLToPath(new URL('../..', import.meta.url)));
}
