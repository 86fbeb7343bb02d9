#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read, so that they print a sentence instead of a syntax error.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** A clone has the sources, which Node 24 runs as they are. The packed package has only the bundle. */
const source = new URL('./main.ts', import.meta.url);
const isClone = existsSync(source);

/** commander 15 and the bundle need 22.12. Running TypeScript needs 24 (22.18 prints a warning). */
const least = isClone ? [24, 0] : [22, 12];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < least[0] || (major === least[0] && minor < least[1])) {
  const remedy = isClone
    ? ' Run `npm exec --no -- cosecha`, which uses the Node that `npm ci` installed.'
    : '';
  console.error(
    `cosecha needs Node ${least.join('.')} or newer, and this is ${process.versions.node}.${remedy}`,
  );
  process.exitCode = 1;
} else {
  // A command starts in half the time: https://nodejs.org/api/module.html#moduleenablecompilecachecachedir
  module.enableCompileCache();
  // A reader such as `head` closes the pipe once it has enough. That is no failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
  const { main } = await import(
    isClone ? source.href : new URL('../../dist/cosecha.js', import.meta.url).href
  );
  process.exitCode = await main(process.argv.slice(2), fileURLToPath(new URL('../..', import.meta.url)));
}
