#!/usr/bin/env node
// Plain JavaScript, so that old versions of Node can read it.
import './require-node.js';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** A clone has the sources, which Node runs as they are. The packed package has only the bundle. */
const source = new URL('./main.ts', import.meta.url);
const isClone = existsSync(source);

// A command starts in half the time: https://nodejs.org/api/module.html#moduleenablecompilecachecachedir
module.enableCompileCache();
// A reader such as `head` closes the pipe once it has enough. That is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}
const { main } = await import(isClone ? source.href : new URL('../../dist/cosecha.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2), fileURLToPath(new URL('../..', import.meta.url)));
