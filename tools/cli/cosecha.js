#!/usr/bin/env node
// Plain JavaScript, so that old versions of Node can read it.
import './require-node.js';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** A clone has the sources, which Node runs as they are. The packed package has only the bundle. */
const source = new URL('./main.ts', import.meta.url);
const isClone = existsSync(source);

// A command of a clone starts in half the time, and of the package 20 ms earlier, so only the clone has a cache. Node's own folder for it
// has the same path for every user of the machine, and another user's bytecode there would run. Whoever can write this one can write the
// sources: https://nodejs.org/api/module.html#moduleenablecompilecachecachedir
if (isClone) {
  const directory = fileURLToPath(new URL('../../.cosecha', import.meta.url));
  try {
    // Others may not enter it, as `npm start` writes access keys below it.
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
    module.enableCompileCache(fileURLToPath(new URL('../../.cosecha/compile-cache', import.meta.url)));
  } catch {
    // Another user's checkout. Commands work without a cache.
  }
}
// A reader such as `head` closes the pipe once it has enough. That is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}
const { main } = await import(isClone ? source.href : new URL('../../dist/cosecha.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2), fileURLToPath(new URL('../..', import.meta.url)));
