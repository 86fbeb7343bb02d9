import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PythonEnvironmentFailed } from '../expected-failure.ts';
import { repository, workDirectory } from '../paths.ts';
import { runCommand, tail } from '../run-command.ts';
import { findPython, type Python, withoutPython } from './find-python.ts';

/** What an environment contains. */
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
  /** Called before an installation starts. */
  onInstall?: () => void;
  signal?: AbortSignal;
};

/** The name of an environment, from everything that determines its contents: the requirements, the Python, the platform. */
export const environmentKey = (requirements: string, python: Python, platform: string): string => {
  return createHash('sha256')
    .update([requirements, python.executable, python.version, platform].join('\n'))
    .digest('hex')
    .slice(0, 16);
};

/**
 * Returns the interpreter of a private virtual environment with these packages, under `.cosecha/`. The first call installs
 * them, which takes about 10 s and 60 MB for the emulator. Later calls reuse it.
 *
 * An environment is built under a temporary name and renamed when it is complete, so an interrupted installation is never
 * used. Only its interpreter is used, as the scripts in `bin/` do not work after a rename.
 *
 * @throws PythonMissing, PythonEnvironmentFailed; `AbortError` when aborted
 */
export const preparePython = async ({
  contents = emulator,
  onInstall,
  signal,
}: Preparation = {}): Promise<string> => {
  const python = await findPython(process.env);
  const requirements = await readFile(contents.requirements, 'utf8');
  const key = environmentKey(requirements, python, `${process.platform}-${process.arch}`);
  const environments = join(workDirectory, 'python');
  const environment = join(environments, key);
  const interpreter = join(environment, 'bin', 'python');
  if (await exists(interpreter)) return interpreter;

  onInstall?.();
  await mkdir(environments, { recursive: true });
  const staging = join(environments, `${key}.${randomUUID()}`);
  try {
    await install({ python, directory: staging, contents, ...(signal && { signal }) });
    await rename(staging, environment).catch(async (error: unknown) => {
      // Another process was first, and its environment is the same.
      if (!(await exists(interpreter))) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return interpreter;
};

type Installation = {
  readonly python: Python;
  readonly directory: string;
  readonly contents: Contents;
  readonly signal?: AbortSignal;
};

/** Runs pip with the environment of the caller, so that its proxy and package index are used. */
const install = async ({ python, directory, contents, signal }: Installation): Promise<void> => {
  const { name, requirements, otherwise } = contents;
  const run = async (command: string, args: string[], problem: string): Promise<void> => {
    const { code, output } = await runCommand(command, args, {
      env: process.env,
      cwd: repository,
      ...(signal && { signal }),
    });
    if (code === 0) return;
    const remedy = ['Try again', ...(otherwise === undefined ? [] : [otherwise])].join(', ');
    throw new PythonEnvironmentFailed(
      `${name} cannot be installed, as ${problem}. ${remedy}.\n${tail(output, 8)}`,
    );
  };
  await run(
    python.executable,
    ['-m', 'venv', directory],
    'its private Python environment could not be created',
  );
  await run(
    join(directory, 'bin', 'python'),
    // Wheels only, so that nothing is compiled and no package's own build code runs.
    [
      '-m',
      'pip',
      'install',
      '--require-hashes',
      '--only-binary',
      ':all:',
      '--requirement',
      requirements,
      '--no-input',
      '--disable-pip-version-check',
      '--quiet',
    ],
    'pip failed (is the package index reachable?)',
  );
};

const exists = async (path: string): Promise<boolean> => {
  return access(path).then(
    () => true,
    () => false,
  );
};
