import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type Reporter, type TestSpecification } from 'vitest/node';
import { repository } from '../../tools/local/paths.ts';
import config from '../../vitest.config.ts';
import { caughtCode, type DrawnFault } from './draw-faults.ts';

/** The fastest tests of `npm test` that cover one fault, in one process. main.ts writes the file that has the fault. */
const { file, source }: DrawnFault = JSON.parse(readFileSync(process.env.DRAWN_FAULT ?? '', 'utf8'));
const [part = '', folder = ''] = file.split('/');
const area = part === 'lib' ? folder : part;

/** Where its unit tests are. Those of all folders have a file that has none. */
const own = `test/unit/${part === 'lib' ? `lib/${area}` : part}`;

/** Beside the unit tests of the folder. Many extractions share breakers and rates alone. */
const others: Readonly<Record<string, string>> = {
  aws: 'test/unit/functions/*.test.ts',
  consents: 'test/{fuzz/properties,unit/lib/extraction/api/answers}.test.ts',
  functions: 'test/unit/lib/aws/**/*.test.ts',
  infra: 'test/unit/{functions/functions,docs/pages}.test.ts',
  http: 'test/unit/{lib/aws/wiring/http-handler,lib/consents/*,lib/extraction/{api/*,reconcile/reading},tools/cli/console/serve-console}.test.ts',
  observability: 'test/unit/docs/pages.test.ts',
  provider: 'test/{provider-conformance,unit/consents}/**/*.test.ts',
  extraction:
    'test/{enumeration,fuzz,simulation}/{enumeration,parts-that-stay-dead,properties,world}.test.ts',
  breaker: 'test/simulation/{many-extractions,parts-that-stay-dead,world}.test.ts',
  'rate-limit': 'test/{simulation/many-extractions,unit/functions/functions}.test.ts',
  webhook: 'test/fuzz/properties.test.ts',
};

/** The test that has the path of the file, then the other unit tests, then those that take most of the time. */
const rankOf = ({ moduleId }: TestSpecification): number => {
  if (moduleId === `${repository}/test/unit/${file.replace(/\.ts$/, '.test.ts')}`) return 0;
  return moduleId.startsWith(`${repository}/test/unit/`) ? 1 : 2;
};

class FastestFirst extends BaseSequencer {
  override sort = async (files: TestSpecification[]): Promise<TestSpecification[]> =>
    files.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** `bail` would still load all other files, which takes longer than most tests. */
const endAtFirst: Reporter = {
  onTestCaseResult: (test) => {
    if (test.result().state === 'failed') process.exit(caughtCode);
  },
  onTestModuleEnd: (file) => {
    if (file.state() === 'failed') process.exit(caughtCode);
  },
  // A rejection that nobody handles, also where all tests pass.
  onTestRunEnd: (files, errors) => {
    if (files.length > 0 && errors.length > 0) process.exit(caughtCode);
  },
};

export default defineConfig({
  plugins: [
    {
      name: 'other',
      enforce: 'pre',
      // A function that is loaded as another process has a query.
      transform: (_code, id) =>
        id.split('?')[0] === `${repository}/${file}` ? { code: source, map: null } : undefined,
    },
  ],
  test: {
    root: repository,
    include: [
      existsSync(join(repository, own)) ? `${own}/**/*.test.ts` : 'test/unit/lib/**/*.test.ts',
      others[area] ?? '',
    ],
    // Those of reads take most of the time.
    testNamePattern: /^(?!reads\/)/,
    tags: config.test?.tags ?? [],
    reporters: [endAtFirst],
    sequence: { sequencer: FastestFirst },
    // A thread ends with its process, even in an endless loop.
    pool: 'threads',
    // Its key has the file as it is, and not the fault.
    fsModuleCache: false,
    isolate: false,
    maxWorkers: 1,
    testTimeout: 300_000,
  },
});
