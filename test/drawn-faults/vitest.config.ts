import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { repository } from '../../tools/local/paths.ts';
import config from '../../vitest.config.ts';
import type { DrawnFault } from './draw-faults.ts';

/** The fastest tests of `npm test` that cover one fault, in one process. main.ts writes the file that has the fault. */
const { file, source }: DrawnFault = JSON.parse(readFileSync(process.env.DRAWN_FAULT ?? '', 'utf8'));
const [, area = ''] = file.split('/');

/** Beside the unit tests. Many extractions share breakers and rates alone. */
const others: Readonly<Record<string, string>> = {
  extraction: 'test/{enumeration,simulation}/{enumeration,parts-that-stay-dead,world}.test.ts',
  breaker: 'test/simulation/{many-extractions,parts-that-stay-dead,world}.test.ts',
  'rate-limit': 'test/simulation/many-extractions.test.ts',
  webhook: 'test/fuzz/properties.test.ts',
};

export default defineConfig({
  plugins: [
    {
      name: 'other',
      enforce: 'pre',
      transform: (_code, id) => (id === `${repository}/${file}` ? { code: source, map: null } : undefined),
    },
  ],
  test: {
    root: repository,
    include: [`test/unit/lib/${area}/**/*.test.ts`, others[area] ?? ''],
    // The other properties do not run the webhook.
    testNamePattern: /^(?!(?:answers|api|consents|credentials|reads)\/)/,
    tags: config.test?.tags ?? [],
    bail: 1,
    // Its key has the file as it is, and not the fault.
    fsModuleCache: false,
    isolate: false,
    maxWorkers: 1,
    testTimeout: 300_000,
  },
});
