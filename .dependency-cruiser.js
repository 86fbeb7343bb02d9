/**
 * Who may import whom, types included. `npm run check` refuses every other import of one file of the repository or a package.
 * See https://github.com/sverweij/dependency-cruiser/blob/main/doc/rules-reference.md
 */

const node = /^[a-z_/]+$/;
// Only the types of the package aws-lambda exist.
const packages = /node_modules\/|^aws-lambda$/;
const packagesButAws = /node_modules\/(?!@aws-sdk\/)|^aws-lambda$/;
const utilities = ['lib/*', node, packagesButAws];
const portOfTelemetry = ['log-messages', 'metric-names', 'telemetry'].map(
  (name) => `lib/observability/${name}.ts`,
);
const belowExtraction = [
  ...utilities,
  'lib/breaker/',
  'lib/rate-limit/',
  'lib/shared-item/',
  'lib/http/',
  'lib/provider/',
];
const throughExtraction = [...belowExtraction, 'lib/extraction/', 'lib/observability/'];
const outside = [node, packages];
const libAndTerminal = [...outside, 'lib/', 'tools/cli/terminal/'];
const libAndDeployment = [...libAndTerminal, 'tools/cli/aws/'];
const consoleTools = ['doctor', 'explain', 'health', 'operate'].map((room) => `tools/cli/${room}/`);

/**
 * Files, what they import besides each other, and why. `room/` is everything below a folder, `room/*` the files directly in it. The first
 * rule that names a file is its rule.
 */
const rules = [
  ['lib/*', [], 'It is below all layers.'],
  ['lib/http/', utilities, 'It is of the lowest layer.'],
  ['lib/observability/', utilities, 'It is of the lowest layer.'],
  [
    'lib/provider/(assumptions|encrypt-and-decrypt|tasks/task-id).ts',
    [node],
    'The bundle of the webhook contains it.',
  ],
  ['lib/provider/', [node, /node_modules\/valibot\//], 'It works without the rest of the repository.'],
  ['lib/shared-item/', [...utilities, ...portOfTelemetry], 'It knows of none who share the items.'],
  [
    'lib/breaker/',
    [...utilities, 'lib/shared-item/', ...portOfTelemetry],
    'It knows what a start showed, and not how the provider says it.',
  ],
  [
    'lib/rate-limit/',
    [...utilities, 'lib/breaker/', 'lib/shared-item/', ...portOfTelemetry],
    'What extractions share knows of none of them.',
  ],
  ['lib/extraction/', [...belowExtraction, ...portOfTelemetry], 'It reports and stores through ports.'],
  ['lib/webhook/', throughExtraction, 'Only lib/aws, functions, infra and tools use the AWS SDK.'],
  ['lib/consents/', throughExtraction, 'Only lib/aws, functions, infra and tools use the AWS SDK.'],
  [
    'lib/aws/put-event.ts',
    ['lib/downstream/', packages],
    'It implements the port of the one reader of the stream that is deployed here.',
  ],
  ['lib/aws/', [...throughExtraction, packages], 'It implements the ports of lib/extraction and below.'],
  [
    'lib/client/',
    [...outside, 'lib/*', 'lib/extraction/api/parse-request.ts', 'lib/extraction/api/public-view.ts'],
    'It is published on its own, with only the types of requests and answers.',
  ],
  [
    'lib/downstream/',
    ['lib/extraction/record.ts', 'lib/provider/vocabulary.ts', /node_modules\/@aws-sdk\/util-dynamodb\//],
    'It is published on its own, with only the types of the record.',
  ],
  [
    'functions/publish-events.ts',
    [...outside, 'lib/'],
    'It reads the stream as any other consumer, and so with what they import.',
  ],
  [
    'functions/',
    [...outside, 'lib/(?!downstream/)'],
    'What runs in Lambda imports nothing that runs elsewhere.',
  ],
  [
    'infra/bundle/',
    [...outside, 'infra/lambda/contracts.ts'],
    'It knows of the app only the names of the functions.',
  ],
  [
    'infra/constructs/',
    [...outside, 'lib/', 'infra/settings/config(-error)?.ts', 'infra/extraction-machine-definition.ts'],
    'A construct gets the configuration, and imports nothing of the app above it.',
  ],
  ['infra/', [...outside, 'lib/'], 'The product imports no tool. A function is bundled, never imported.'],
  [
    'sandbox/',
    [node, packagesButAws, 'lib/http/loopback-guard.ts'],
    'It checks lib, so it shares no code of the provider with it.',
  ],
  ['tools/cli/terminal/', [...outside, 'lib/'], 'It is the lowest room of the command line.'],
  ['tools/cli/aws/', libAndTerminal, 'It reads a deployment and knows no tool.'],
  [
    'tools/cli/audit/',
    [...outside, 'lib/(?!extraction/)', 'lib/extraction/record.ts', 'tools/cli/aws/', 'tools/cli/terminal/'],
    'It takes the types of records, and what it audits from AWS.',
  ],
  ['tools/cli/doctor/', libAndDeployment, 'One tool of the command line imports no other.'],
  ['tools/cli/explain/', libAndDeployment, 'One tool of the command line imports no other.'],
  ['tools/cli/health/', libAndDeployment, 'One tool of the command line imports no other.'],
  ['tools/cli/listen/', libAndDeployment, 'One tool of the command line imports no other.'],
  ['tools/cli/operate/', libAndDeployment, 'One tool of the command line imports no other.'],
  ['tools/cli/console/', [...libAndDeployment, ...consoleTools], 'It shows what these tools find.'],
  [
    'tools/cli/commands/',
    [...libAndDeployment, ...consoleTools, 'tools/cli/(audit|console|listen)/'],
    'The program imports a command, and a command the rooms of tools/cli.',
  ],
  ['tools/cli/', [...outside, 'lib/'], 'Other tools import the command line, and it none of them.'],
  [
    'tools/local/',
    [...outside, 'lib/', 'tools/cli/', 'sandbox/'],
    'It deploys infra with the CDK CLI, and runs the sandbox.',
  ],
  [
    'tools/acceptance/fake-provider/function/fake-provider.ts',
    [...outside, 'lib/(?!downstream/)', 'tools/acceptance/fake-provider/function/'],
    'What runs in Lambda imports nothing that runs elsewhere.',
  ],
  [
    'tools/acceptance/fake-provider/function/',
    [node, packagesButAws, 'sandbox/'],
    'It checks lib, so it shares no code with it, but with the sandbox, which plays the same provider.',
  ],
  [
    'tools/acceptance/checks/',
    [...outside, 'lib/', 'tools/cli/', 'tools/acceptance/'],
    'The checks see infra as it is deployed.',
  ],
  [
    'tools/acceptance/',
    [...outside, 'infra/', 'lib/', 'tools/cli/', 'tools/deploy/', 'tools/local/'],
    'A function is bundled, never imported.',
  ],
  ['tools/deploy/', [...outside, 'infra/', 'lib/'], 'It deploys infra with the CDK CLI.'],
  [
    'tools/(contracts|package)/',
    [...outside, 'infra/', 'lib/', 'tools/local/paths.ts'],
    'A function is bundled, never imported.',
  ],
];

/** The floors of lib/extraction, from the ground up. A file imports only from lower ones, and is put where it finds what it needs. */
const floors = [
  [
    'codes',
    'sealed-request-data',
    'keyed-mac',
    'record',
    'end-wait',
    'handle-messages',
    'reconcile-message',
    'api/expected-start',
  ],
  ['deadlines', 'causes', 'change', 'phase', 'api/parse-request', 'api/start-estimates', 'api/public-view'],
  ['due', 'store', 'plan', 'advice', 'stuck-seconds', 'api/idempotency'],
  [
    'refused-credentials',
    'request-data',
    'transitions',
    'spellings',
    'api/answer-read',
    'start/asking',
    'erase/erasure',
  ],
  [
    'decide',
    'write-progress',
    'operate/restore',
    'api/create-extraction',
    'api/answer-find',
    'start/start-call',
    'erase/search',
    'erase/plan-erasure',
  ],
  [
    'run',
    'sweep',
    'api/answer-request',
    'api/answer-erasure',
    'api/answer-summary',
    'start/gate',
    'erase/erase-extraction',
    'reconcile/read-task',
  ],
  ['record-delivery', 'operate/cancel', 'start/start', 'erase/erase-messages', 'reconcile/reconcile'],
];
const onFloors = (from) => from.map((names) => `^lib/extraction/(${names.join('|')})\\.ts$`);

/** The regular expression of a path, with `room/*` as above. */
const pattern = (path) =>
  path instanceof RegExp ? path.source : `^${path.replace(/\.ts$/, '\\.ts$').replace(/\*$/, '[^/]+$')}`;

export default {
  forbidden: [
    ...rules.map(([files, imports, comment], index) => ({
      name: files,
      severity: 'error',
      comment,
      from: { path: pattern(files), pathNot: rules.slice(0, index).map(([earlier]) => pattern(earlier)) },
      to: { pathNot: [files, ...imports].map(pattern) },
    })),
    ...floors.map((_names, index) => ({
      name: `floor ${index + 1} of lib/extraction`,
      severity: 'error',
      comment: 'A file of lib/extraction imports only from floors below its own.',
      from: { path: onFloors(floors.slice(index, index + 1)) },
      to: { path: '^lib/extraction/', pathNot: onFloors(floors.slice(0, index)) },
    })),
    {
      name: 'on no floor of lib/extraction',
      severity: 'error',
      comment: 'Each file of lib/extraction has a floor in this list. There are at most seven.',
      from: { path: '^lib/extraction/', pathNot: onFloors(floors) },
      to: { path: '^lib/extraction/' },
    },
    {
      name: 'published',
      severity: 'error',
      comment: 'What is published on its own takes only types of the record, requests and answers.',
      from: { path: '^lib/(client|downstream)/' },
      to: { path: '^lib/(extraction|provider)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'audit',
      severity: 'error',
      comment: 'The audit states the rules again, so that it does not share a mistake.',
      from: { path: '^tools/cli/audit/' },
      to: { path: '^lib/extraction/', dependencyTypesNot: ['type-only'] },
    },
    // Biome's noImportCycles finds the same, in as much processor time as all of its other rules together.
    {
      name: 'cycle',
      severity: 'error',
      comment: 'What imports itself through others, types included, cannot be read from the ground up.',
      from: { pathNot: '^test/' },
      to: { circular: true },
    },
    {
      name: 'cycle of test',
      severity: 'error',
      comment:
        'Files that need each other to load may find a constant undefined. Their types may refer to each other.',
      from: { path: '^test/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    // TypeScript 7 has no API for other programs, and this parser sees the imports of types.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'require', 'types'],
    },
  },
};
