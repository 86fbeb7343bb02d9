import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../local/paths.ts';
import { buildPackage } from './build-package.ts';

// `npm run package`: dist/package, and dist/cosecha-<version>.tgz of it.
const dist = join(repository, 'dist');
await buildPackage(join(dist, 'package'));
const packed = execFileSync('npm', ['pack', join(dist, 'package'), '--pack-destination', dist], {
  encoding: 'utf8',
  stdio: ['inherit', 'pipe', 'inherit'],
});
console.log(`dist/${packed.trim()}`);
