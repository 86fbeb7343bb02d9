import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../lib/defined.ts';
import { CliError } from '../../cli/terminal/errors.ts';
import { installOnce } from '../install-once.ts';
import { repository, workDirectory } from '../paths.ts';
import { runCommand, tail } from '../run-command.ts';
import { findPython, type Python, withoutPython } from './find-python.ts';

type Contents = {
  /** Subject of the sentence that reports a failure. */
  readonly name: string;
  /** A file that pins each package by version and hash. */
  readonly requirements: string;
  /** What to do instead of trying again. */
  readonly otherwise?: string;
};

const emulator: Contents = {
  name: 'The AWS emulator',
  requirements: join(import.meta.dirname, 'requirements.txt'),
  otherwise: withoutPython,
};

type Preparation = {
  /** Default: the emulator. */
  contents?: Contents;
  onInstall?: () => void;
  signal?: AbortSignal;
};

/** The name of an environment, from everything that determines its contents: the requirements, the Python, the platform. */
export const environmentKey = (
  requirements: string,
  { executable, version }: Pick<Python, 'executable' | 'version'>,
  platform: string,
): string =>
  createHash('sha256')
    .update([requirements, executable, version, platform].join('\n'))
    .digest('hex')
    .slice(0, 16);

/**
 * Returns the interpreter of a private virtual environment with these packages, under `.cosecha/`. The first call installs
 * them, which takes about 10 s and 60 MB for the emulator. Later calls reuse it.
 *
 * Only its interpreter is used, as the scripts in `bin/` do not work after the rename of `installOnce`.
 *
 * @throws CliError; `AbortError` when aborted
 */
export const preparePython = async ({ contents = emulator, onInstall, signal }: Preparation = {}) => {
  const python = await findPython();
  const requirements = await readFile(contents.requirements, 'utf8');
  const key = environmentKey(requirements, python, `${process.platform}-${process.arch}`);
  const environment = await installOnce(join(workDirectory, 'python', key), (directory) => {
    onInstall?.();
    return install({ python, directory, contents, signal });
  });
  return join(environment, 'bin', 'python');
};

type Installation = {
  readonly python: Python;
  readonly directory: string;
  readonly contents: Contents;
  readonly signal: AbortSignal | undefined;
};

/** Runs pip with the environment of the caller, so that its proxy and package index are used. */
const install = async ({ python: { executable }, directory, contents, signal }: Installation) => {
  const { name, requirements, otherwise } = contents;
  const run = async (command: string, args: string[], problem: string): Promise<void> => {
    const options = { env: process.env, cwd: repository, ...defined({ signal }) };
    const { code, output } = await runCommand(command, args, options);
    if (code === 0) return;
    const remedy = ['Try again', ...(otherwise === undefined ? [] : [otherwise])].join(', ');
    throw new CliError(`${name} cannot be installed, as ${problem}. ${remedy}.\n${tail(output, 8)}`);
  };
  await run(executable, ['-m', 'venv', directory], 'its private Python environment could not be created');
  // Wheels only, so that nothing is compiled and no package's own build code runs.
  const options = '--require-hashes --only-binary :all: --no-input --disable-pip-version-check --quiet';
  await run(
    join(directory, 'bin', 'python'),
    ['-m', 'pip', 'install', ...options.split(' '), '--requirement', requirements],
    'pip failed (is the package index reachable?)',
  );
};
