import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractOfToday } from './contract.ts';
import { version } from './release.ts';

// `npm run release:contract`: writes the contract of the version in package.json. Once it is released, the files never change.
const release = version.replace(/-.*/, '');
const folder = join(import.meta.dirname, release);
if (release === version && existsSync(folder))
  throw new Error(`${version} is released. Set the next version in package.json first.`);
mkdirSync(folder, { recursive: true });
for (const [file, content] of Object.entries(contractOfToday()))
  writeFileSync(join(folder, file), `${JSON.stringify(content, null, 1)}\n`);
