import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../../tools/local/paths.ts';
import { buildPackage } from '../../../tools/package/build-package.ts';

const run = promisify(execFile);

/**
 * Builds and packs the package, and unpacks it into the node_modules of another project. npm itself would look up the
 * optional peers in its registry. Returns the paths of the tarball and of the unpacked package.
 */
export const installPackage = async (project: string): Promise<{ tarball: string; installed: string }> => {
  const staging = join(project, 'staging');
  const installed = join(project, 'node_modules', '@cosecha', 'cosecha');
  await buildPackage(staging);
  const { stdout } = await run('npm', ['pack', staging, '--pack-destination', project, '--json'], {
    cwd: project,
  });
  const [{ filename }] = JSON.parse(stdout);
  const tarball = join(project, filename);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  rmSync(staging, { recursive: true });
  return { tarball, installed };
};

/** Links packages of this repository into another project, as if they were installed there. */
export const linkPackages = (project: string, names: readonly string[]): void => {
  for (const name of names) {
    const link = join(project, 'node_modules', name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(repository, 'node_modules', name), link);
  }
};
