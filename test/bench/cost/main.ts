/**
 * `npm run cost`: the cost of a million extractions at list prices. It deploys the app to an emulator, runs real
 * extractions, counts every call that AWS bills, and prices them by the template.
 */

import { ExpectedFailure } from '../../../tools/local/expected-failure.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { createRunOutput } from '../../../tools/local/run-output.ts';
import { synthesizeTemplate } from '../template.ts';
import { billOf } from './bill/bill.ts';
import { factsOf } from './read-template.ts';
import { report } from './report.ts';
import { measure } from './run/measure.ts';

/** It takes about a minute and a half on two cores. */
const DEADLINE_MS = 300_000;

const main = async (): Promise<number> => {
  const cleanups: (() => Promise<void>)[] = [];
  const show = createRunOutput(process.stderr, Date.now);
  const stopped = new AbortController();
  // The signal may come twice: from the terminal and from npm.
  process.on('SIGINT', () => stopped.abort());
  try {
    const measured = await measure({
      options: { methods: [], once: true },
      directory: await createRunDirectory('cost', new Date()),
      show,
      signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(DEADLINE_MS)]),
      atEnd: (cleanup) => cleanups.push(cleanup),
    });
    show.rest();
    const facts = factsOf(synthesizeTemplate());
    console.log(`\n${report(billOf(measured, facts), facts)}`);
    return 0;
  } catch (error) {
    show.rest();
    // Errors after Ctrl-C are its consequence.
    if (stopped.signal.aborted) return 130;
    console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
    return 1;
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
};

// Open keep-alive connections would keep the process running.
process.exit(await main());
