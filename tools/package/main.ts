import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../local/paths.ts';
import { buildPackage } from './build-package.ts';

// `npm run package`: writes dist/package, and packs it as dist/cosecha-cosecha-<version>.tgz.
const dist = join(repository, 'dist');
await buildPackage(join(dist, 'package'));
const packed = execFileSync('npm', ['pack', join(dist, 'package'), '--pack-destination', dist], {
  encoding: 'utf8',
  stdio: ['inherit', 'pipe', 'inherit'],
});
console.log(`dist/${packed.trim()}`);
