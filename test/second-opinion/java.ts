import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { repository, workDirectory } from '../../tools/local/paths.ts';
import { runCommand, tail } from '../../tools/local/run-command.ts';
import { describeIfInstalled, findProgram } from '../support/describe-if-installed.ts';

class JarsNotInstalled extends Error {
  override readonly name = 'JarsNotInstalled';
}

/** With the compiler, which event-ruler.test.ts needs. DynamoDB Local has its SQLite for this architecture alone. */
const isInstalled =
  process.arch === 'x64' && findProgram('javac') !== undefined && findProgram('mvn') !== undefined;

/** Tests that need Java. Without it they are skipped, but in CI they fail. */
export const describeWithJava = (title: string, tests: () => void): void =>
  describeIfInstalled(
    isInstalled,
    {
      title,
      howToInstall: `${title}: on an x64 machine install a JDK 17 or later and Maven, e.g. apt-get install -y default-jdk-headless maven`,
    },
    tests,
  );

const pom = join(import.meta.dirname, 'pom.xml');
const checksums = join(import.meta.dirname, 'artifacts.sha256');

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** What `sha256sum -b` prints about the files of a directory, as a set. */
const checksumsOf = async (directory: string): Promise<Set<string>> => {
  const files = await readdir(directory);
  return new Set(
    await Promise.all(files.map(async (file) => `${sha256(await readFile(join(directory, file)))} *${file}`)),
  );
};

/** Has Maven resolve the pom, and verifies each file. Maven alone would accept what its repository calls correct. */
const install = async (directory: string, expected: ReadonlySet<string>): Promise<void> => {
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${directory}`];
  const { code, output } = await runCommand(
    'mvn',
    ['--batch-mode', '--quiet', '--strict-checksums', '--file', pom, ...goal],
    { env: process.env, cwd: repository },
  );
  if (code !== 0)
    throw new JarsNotInstalled(`Maven failed (is its repository reachable?)\n${tail(output, 12)}`);
  const found = await checksumsOf(directory);
  const others = [...found, ...expected].filter((line) => !(found.has(line) && expected.has(line)));
  if (others.length > 0) {
    throw new JarsNotInstalled(`These files differ from artifacts.sha256:\n${others.join('\n')}`);
  }
};

/**
 * Returns the directory with the jars and native libraries of pom.xml, under `.cosecha/`. The first call installs them, which
 * takes about a minute and 50 MB. They are complete under this name only, so an interrupted installation is never used.
 */
export const prepareJars = async (): Promise<string> => {
  const pins = await readFile(checksums, 'utf8');
  const parent = join(workDirectory, 'java');
  const directory = join(parent, sha256(pins).slice(0, 16));
  if (existsSync(directory)) return directory;
  await mkdir(parent, { recursive: true });
  const staging = `${directory}.${randomUUID()}`;
  try {
    await install(staging, new Set(pins.trim().split('\n')));
    await rename(staging, directory).catch((error: unknown) => {
      // Another process was first, and its directory is the same.
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return directory;
};
