/**
 * `npm run cost`: the cost of a million extractions at list prices. It deploys the app to an emulator, runs real
 * extractions, counts every call that AWS bills, and prices them by the template.
 */

import { createRunDirectory } from '../../../tools/local/paths.ts';
import { createRunOutput } from '../../../tools/local/run-output.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import { synthesize } from '../../unit/infra/synth.ts';
import { billOf } from './bill/bill.ts';
import { report } from './report.ts';
import { measure } from './run/measure.ts';
import { factsOf } from './template-facts.ts';

/** It takes about a minute and a half on two cores, and ten times as long where others use them, too. */
const DEADLINE_MS = 1_800_000;

await runUntilStopped(async ({ stop, atEnd }) => {
  const show = createRunOutput(process.stderr, Date.now);
  const measured = await measure({
    directory: await createRunDirectory('cost', new Date()),
    show,
    signal: AbortSignal.any([stop, AbortSignal.timeout(DEADLINE_MS)]),
    atEnd,
  }).finally(() => show.rest());
  const facts = factsOf(synthesize().template);
  console.log(`\n${report(billOf(measured, facts), facts)}`);
});
