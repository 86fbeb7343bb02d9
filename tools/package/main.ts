import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../local/paths.ts';
import { buildPackage } from './build-package.ts';
import { billOfMaterials } from './licences-and-sbom.ts';

// `npm run package`: writes dist/package, and packs it as dist/cosecha-cosecha-<version>.tgz, beside its bill of materials and SHA256SUMS.
const dist = join(repository, 'dist');
const packages = await buildPackage(join(dist, 'package'));
const packed = execFileSync('npm', ['pack', join(dist, 'package'), '--pack-destination', dist], {
  encoding: 'utf8',
  stdio: ['inherit', 'pipe', 'inherit'],
});
const tarball = packed.trim();
const bill = tarball.replace(/tgz$/, 'cdx.json');
await writeFile(join(dist, bill), await billOfMaterials(packages));
const sums = [tarball, bill].map(async (name) => {
  const hash = createHash('sha256').update(await readFile(join(dist, name)));
  return `${hash.digest('hex')}  ${name}\n`;
});
await writeFile(join(dist, 'SHA256SUMS'), (await Promise.all(sums)).join(''));
console.log([tarball, bill, 'SHA256SUMS'].map((name) => `dist/${name}`).join('\n'));
