import { spawnSync } from 'node:child_process';

/** Prints the lines of each folder, and of those of an earlier commit beside them: `npm run lines -- <commit>`. */

const notWritten =
  /\.(?:png|svg|ico|snap)$|package-lock\.json$|requirements\.txt$|artifacts\.sha256$|^LICENSE|^docs\/(?:schemas|events|openapi)|^test\/releases\/\d/;
const folders = ['functions', 'lib', 'infra', 'sandbox', 'tools', 'test', 'docs', 'examples', ''];

/** Git's name for a tree without files. The difference from it has the lines of each file. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const linesAt = (commit: string): Record<string, number> => {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['diff', '--numstat', '--no-renames', emptyTree, commit],
    {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    },
  );
  if (status !== 0) throw new Error(stderr);
  const files = [...stdout.matchAll(/^(\d+)\t\d+\t(.+)$/gm)]
    .map(([, lines, path = '']) => ({ lines: Number(lines), path }))
    .filter(({ path }) => !notWritten.test(path));
  const linesOf = (folder: string) =>
    files.filter(({ path }) => path.startsWith(folder)).reduce((sum, { lines }) => sum + lines, 0);
  return Object.fromEntries(folders.map((folder) => [folder || 'all', linesOf(folder && `${folder}/`)]));
};

const [commit] = process.argv.slice(2);
const now = linesAt('HEAD');
const before = commit === undefined ? undefined : linesAt(commit);
console.table(
  Object.fromEntries(
    Object.entries(now).map(([folder, lines]) => [
      folder,
      before === undefined
        ? { lines }
        : { before: before[folder], lines, fewer: (before[folder] ?? 0) - lines },
    ]),
  ),
);
