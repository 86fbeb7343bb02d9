import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from '../../tools/local/install-once.ts';
import { repository, workDirectory } from '../../tools/local/paths.ts';
import { runCommand, tail } from '../../tools/local/run-command.ts';

class JarsNotInstalled extends Error {
  override readonly name = 'JarsNotInstalled';
}

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** What `sha256sum -b` prints about the files of a directory, as a set. */
const checksumsOf = async (directory: string): Promise<Set<string>> => {
  const files = await readdir(directory);
  return new Set(
    await Promise.all(files.map(async (file) => `${sha256(await readFile(join(directory, file)))} *${file}`)),
  );
};

/**
 * Has Maven resolve the pom, and verifies each file. Maven alone would accept what its repository calls correct. It is needed
 * although the checksums are known: only Maven reads the mirrors, proxies and credentials of settings.xml.
 */
const install = async (pom: string, directory: string, expected: ReadonlySet<string>): Promise<void> => {
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
 * Returns the directory with the jars and native libraries of a folder's pom.xml, under `.cosecha/`. The first call installs them,
 * which takes about a minute and 50 MB. Default: those that AWS publishes.
 */
export const prepareJars = async (folder = import.meta.dirname): Promise<string> => {
  const pins = await readFile(join(folder, 'artifacts.sha256'), 'utf8');
  return installOnce(join(workDirectory, 'java', sha256(pins).slice(0, 16)), (directory) =>
    install(join(folder, 'pom.xml'), directory, new Set(pins.trim().split('\n'))),
  );
};
