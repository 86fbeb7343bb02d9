import { spawnSync } from 'node:child_process';

/** Finds words in code, comments and pages for which this project has a more exact one. History keeps its words. */
const others: Readonly<Record<string, string>> = {
  'told|tells?': 'report, log, publish, show, distinguish',
  whoever: 'the process, caller or operator that is meant',
  'looked|look again': 'read, search; reconcile',
  'mutant|planted mistake|deliberate fault|injected fault': 'planted fault, injected failure',
  journal: 'telemetry',
  'late truth': 'correction',
  'write-ahead': 'the `STARTING` write',
  'bad weather': 'outage of the provider',
  '(most|longest|deepest|farthest)[A-Z][A-Za-z]*': 'in a name, `maxX`',
};

const where = [
  '*.ts',
  '*.js',
  '*.md',
  '*.yaml',
  ':!test/check-words.ts',
  ':!docs/decisions',
  ':!CHANGELOG.md',
];
/** In comments of the product, where a noun belongs. */
const withoutNoun = '(//|\\*) .*\\b(those of|what it showed)\\b';
const product = ['functions', 'infra', 'lib', 'sandbox', 'tools'];

const cwd = new URL('../', import.meta.url);
const { status } = spawnSync('git', ['grep', '-nwE', Object.keys(others).join('|'), '--', ...where], {
  cwd,
  stdio: 'inherit',
});
const noun = spawnSync('git', ['grep', '-nE', withoutNoun, '--', ...product], { cwd, stdio: 'inherit' });
// It exits with 1 if it finds nothing.
if (status !== 1 || noun.status !== 1) {
  console.error('There is another word for each of these:');
  console.table({ ...others, [withoutNoun]: 'the noun' });
  process.exitCode = 1;
}
