import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractOfToday } from './contract.ts';
import { releaseInWork } from './release.ts';

// `npm run release:contract`: writes the contract of the version in package.json. Once it is released, the files never change.
const folder = join(import.meta.dirname, releaseInWork());
mkdirSync(folder, { recursive: true });
for (const [file, content] of Object.entries(contractOfToday()))
  writeFileSync(join(folder, file), `${JSON.stringify(content, null, 1)}\n`);
