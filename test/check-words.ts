import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Finds the words of the glossary's last table in code, comments and pages. History keeps its words. */
const root = new URL('../', import.meta.url);
const glossary = readFileSync(new URL('docs/glossary.md', root), 'utf8');
const table = glossary.split('\n## Words that are not used\n')[1] ?? '';
const words = [...table.matchAll(/^\| (`[^|]*`) \|/gm)]
  .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
  // `maxX` stands in the table for any name that begins so.
  .map(([, word = '']) => word.replace(/X$/, '[A-Z][A-Za-z]*'));
if (words.length === 0) throw new Error('docs/glossary.md has no table of words that are not used.');

const where = ['*.ts', '*.js', '*.md', '*.yaml', ':!docs/glossary.md', ':!docs/decisions', ':!CHANGELOG.md'];
const { status } = spawnSync('git', ['grep', '-nwE', words.join('|'), '--', ...where], {
  cwd: root,
  stdio: 'inherit',
});
// It exits with 1 if it finds nothing.
if (status !== 1) {
  console.error('docs/glossary.md has another word for each of these.');
  process.exitCode = 1;
}
