import { execFileSync } from 'node:child_process';

/** Prints what each part of the repository has, and what it had at an earlier commit: `npm run lines -- <commit>`. */

/** Written by a program, or no text. */
const data =
  /^(?:docs\/(?:schemas|events|openapi|asyncapi)|test\/releases\/\d)|\.(?:png|svg|ico|snap|sha256|txt|json|lock|sum)$|^LICENSE/;

/** The first that matches has the file. */
const parts: Readonly<Record<string, RegExp>> = {
  data,
  product: /^(?:functions|lib|infra)\//,
  tools: /^tools\//,
  sandbox: /^sandbox\//,
  tests: /^test\//,
  decisions: /^docs\/decisions\//,
  pages: /\.md$/,
  others: /^/,
};

type Count = { readonly lines: number; readonly words?: number };

/** Git's name for a tree without files. The difference from it has the lines of each file. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

const partOf = (path: string): string =>
  Object.entries(parts).find(([, pattern]) => pattern.test(path))?.[0] ?? 'others';

const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length;

const countAt = (commit: string): Readonly<Record<string, Count>> => {
  const changes = git('diff', '--numstat', '--no-renames', emptyTree, commit);
  const files = [...changes.matchAll(/^(\d+)\t\d+\t(.+)$/gm)].map(([, lines, path = '']) => ({
    lines: Number(lines),
    path,
  }));
  return Object.fromEntries(
    Object.keys(parts).map((part) => {
      const own = files.filter(({ path }) => partOf(path) === part);
      const lines = own.reduce((sum, one) => sum + one.lines, 0);
      if (part !== 'pages' && part !== 'decisions') return [part, { lines }];
      return [
        part,
        { lines, words: wordsIn(own.map(({ path }) => git('show', `${commit}:${path}`)).join('\n')) },
      ];
    }),
  );
};

/** Lines of files that moved or changed since a commit, without those that it had already. Git begins their blame with a caret. */
const newSince = (commit: string): Readonly<Record<string, number>> => {
  const changed = git('diff', '--name-only', '--no-renames', '--diff-filter=d', commit, 'HEAD')
    .trim()
    .split('\n');
  return Object.fromEntries(
    Object.keys(parts)
      .filter((part) => part !== 'data')
      .map((part) => [
        part,
        changed
          .filter((path) => partOf(path) === part)
          .flatMap((path) => git('blame', '-s', `${commit}..HEAD`, '--', path).match(/^[^^]/gm) ?? []).length,
      ]),
  );
};

/** A test compares the number on this page with the template. */
const alarmsAt = (commit: string): string | undefined =>
  /(\d+) alarms watch/.exec(git('show', `${commit}:docs/operations.md`))?.[1];

const [commit] = process.argv.slice(2);
const now = countAt('HEAD');
const before = commit === undefined ? {} : countAt(commit);
const added = commit === undefined ? {} : newSince(commit);
console.table(
  Object.fromEntries(
    Object.entries(now).map(([part, { lines, words }]) => {
      const was = before[part];
      return [
        part,
        {
          lines,
          ...(was && {
            before: was.lines,
            fewer: was.lines - lines,
            ...(added[part] !== undefined && { new: added[part] }),
          }),
          ...(words && { words }),
          ...(was?.words && words && { 'words before': was.words, 'fewer words': was.words - words }),
        },
      ];
    }),
  ),
);
console.log(`${alarmsAt('HEAD')} alarms${commit === undefined ? '' : `, ${alarmsAt(commit)} before`}.`);
