import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../cli/terminal/errors.ts';
import { repository } from '../local/paths.ts';
import { replaceCode } from './replace-code.ts';

const git = (...args: readonly string[]): Buffer =>
  execFileSync('git', args, { cwd: repository, maxBuffer: 1_073_741_824, stdio: ['ignore', 'pipe', 'pipe'] });

/** The files of a commit in a new directory, with the packages of its lock file. Throws CliError if the clone lacks it. */
export const checkOutVersion = (commit: string, directory: string): string => {
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync('tar', ['-x', '-C', directory], { input: git('archive', commit) });
  } catch (cause) {
    const remedy = `Fetch it: git fetch origin ${commit}`;
    throw new CliError(`This clone does not have the commit ${commit}. ${remedy}`, { cause });
  }
  // The packages of today serve, unless that version had others.
  if (git('diff', '--name-only', commit, '--', 'package-lock.json').length === 0)
    symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: 'inherit' });
  return directory;
};

/** The status that only the later version knows. */
export const laterStatus = 'LATER';

/** What a next version may change (CONTRIBUTING.md, "Stay compatible for one release"): where, what, and into what. */
export const changes = [
  // One new optional attribute.
  [
    'lib/extraction/api/create-extraction.ts',
    '...due.attributes(',
    "laterAttribute: 'later',\n    ...due.attributes(",
  ],
  // One new cause that is accepted and not sent.
  ['lib/extraction/reconcile-message.ts', "'execution-broken',", "'execution-broken',\n  'later',"],
  // One new status.
  ['lib/extraction/record.ts', "'STARTING', 'RUNNING']", `'STARTING', 'RUNNING', '${laterStatus}']`],
] as const;

/** The version after this commit, until there is one. */
export const laterThan = (commit: string, directory: string): string => {
  checkOutVersion(commit, directory);
  for (const [file, find, later] of changes) {
    const path = join(directory, file);
    writeFileSync(path, replaceCode(readFileSync(path, 'utf8'), find, later));
  }
  return directory;
};

/** The later version of `npm run accept -- --upgrade`: that of a commit, or the one after today's. */
export const laterTree = (to: string | true, directory: string): string =>
  (to === true ? laterThan : checkOutVersion)(to === true ? 'HEAD' : to, join(directory, 'later'));

/** Whether what is deployed differs between a commit and the files of today. */
export const differsFromToday = (commit: string): boolean =>
  git('diff', '--name-only', commit, '--', 'lib', 'functions', 'infra').length > 0;
