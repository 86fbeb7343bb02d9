import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { otherPartition } from '../../infra/refuse-wrong-environment.ts';
import { findPython } from '../../tools/local/emulator/find-python.ts';
import { preparePython } from '../../tools/local/emulator/python-environment.ts';
import { runCommand } from '../../tools/local/run-command.ts';
import { createOnly } from '../releases/stored-resources.ts';
import { describeIfInstalled } from '../support/programs/describe-if-installed.ts';
import { withApp } from '../unit/infra/synth.ts';
import { everyTemplate } from './every-template.ts';

/** The output of a Python script as JSON. */
const runPython = async <Result>(
  python: string,
  script: string,
  args: readonly string[] = [],
): Promise<Result> => {
  const { output } = await runCommand(python, ['-I', '-c', script, ...args], {
    env: process.env,
    cwd: workspace,
  });
  return JSON.parse(output) as Result;
};

/** The regions of the partition aws that cfn-lint knows. */
const readRegions = async (python: string): Promise<readonly string[]> => {
  const script = 'from cfnlint.helpers import REGIONS; import json; print(json.dumps(REGIONS))';
  const all = await runPython<readonly string[]>(python, script);
  return all.filter((region) => !otherPartition.test(region));
};

/** The properties of each type whose change makes a new resource, by the schemas that cfn-lint has of CloudFormation. */
const readCreateOnly = (python: string, types: readonly string[]) => {
  const script = `
import cfnlint, json, os, sys
folder = os.path.join(os.path.dirname(cfnlint.__file__), 'data', 'schemas')
files = json.load(open(os.path.join(folder, 'providers', 'us-east-1.json')))
schema = lambda type: json.load(open(os.path.join(folder, 'resources', files[type] + '.json')))
kinds = ['createOnlyProperties', 'conditionalCreateOnlyProperties']
names = lambda of: sorted({path.split('/')[2] for kind in kinds for path in of.get(kind, [])})
print(json.dumps({type: names(schema(type)) for type in sys.argv[1:]}))`;
  return runPython<typeof createOnly>(python, script, types);
};

const typesIn = (template: object): readonly string[] => {
  const { Resources } = template as {
    readonly Resources: Readonly<Record<string, { readonly Type: string }>>;
  };
  return Object.values(Resources).map(({ Type }) => Type);
};

/** Findings that change nothing in a deployment, by rule. */
const accepted: Readonly<Record<string, { readonly in?: string; readonly reason: string }>> = {
  I1022: { reason: 'The CDK writes Fn::Join where a person would write Fn::Sub.' },
  W3005: { reason: 'The CDK adds a role to DependsOn beside its policy, although the role is referred to.' },
  W8003: { reason: 'An example of a provider always breaks its rule, so it is not deployed.' },
  W3037: { in: 'local', reason: 'The emulator authorizes sqs:SendMessageBatch, which AWS does not have.' },
};

const findings = v.array(
  v.object({
    Filename: v.nullable(v.string()),
    Message: v.string(),
    Rule: v.object({ Id: v.string() }),
    Location: v.object({ Path: v.nullable(v.array(v.union([v.string(), v.number()]))) }),
  }),
);

type Finding = { readonly template: string; readonly rule: string; readonly text: string };

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-lint-'));
afterAll(() => rmSync(workspace, { recursive: true }));

/** All findings about the templates, from errors to hints, in any of the regions. */
const lint = async (
  python: string,
  templates: ReadonlyMap<string, object>,
  regions: readonly string[],
): Promise<readonly Finding[]> => {
  const files = [...templates].map(([name, template]) => {
    const file = join(workspace, `${name}.json`);
    writeFileSync(file, JSON.stringify(template));
    return file;
  });
  const report = join(workspace, 'report');
  rmSync(report, { force: true });
  // Not its own script, which does not survive the renaming of the environment.
  const main = 'import sys; from cfnlint.runner import main; sys.exit(main())';
  const options = ['--include-checks', 'I', '--format', 'json', '--output-file', report];
  const { output } = await runCommand(
    python,
    ['-I', '-c', main, '--regions', ...regions, ...options, '--template', ...files],
    { env: process.env, cwd: workspace },
  );
  if (!existsSync(report)) throw new Error(`cfn-lint ended without a report.\n${output}`);
  return v
    .parse(findings, JSON.parse(readFileSync(report, 'utf8')))
    .map(({ Filename, Message, Rule, Location }) => {
      const template = parse(Filename ?? '').name;
      return {
        template,
        rule: Rule.Id,
        text: `${template}: ${Rule.Id} ${Message} (${(Location.Path ?? []).join('/')})`,
      };
    });
};

test('every template is also checked by the rules of the CDK, which refuse what does not fit', () => {
  const synth = () =>
    withApp({}, (app) => {
      new CfnQueue(new Stack(app, 'Stack'), 'Queue', { delaySeconds: -1 });
      app.synth();
    });
  expect(synth).toThrow('DelaySeconds');
});

describeIfInstalled(
  await findPython().then(
    () => true,
    () => false,
  ),
  {
    title: 'cfn-lint',
    howToInstall:
      'cfn-lint checks the templates: install Python 3.10 or later, e.g. apt-get install -y python3-venv',
  },
  () => {
    let python: string;
    beforeAll(async () => {
      python = await preparePython({
        contents: { name: 'cfn-lint', requirements: join(import.meta.dirname, 'requirements.txt') },
      });
    });

    const templates = new Map(
      [...everyTemplate()].map(([name, template]) => [name, template.toJSON() as object] as const),
    );

    test('what keeps data has the create-only properties that test/releases compares', async () => {
      expect(await readCreateOnly(python, Object.keys(createOnly))).toEqual(createOnly);
    });

    // No template has a type of resource that these do not have, and each region costs as much time as a template.
    const complete = ['every-option', 'accept-fake-provider', 'embedded-in-vpc', 'example-refresh'];
    const few = new Map([...templates].filter(([name]) => complete.includes(name)));
    const others = new Map([...templates].filter(([name]) => !complete.includes(name)));

    test('no template has a type of resource that those linted in every region lack', () => {
      const there = new Set([...few.values()].flatMap(typesIn));
      expect([...templates.values()].flatMap(typesIn).filter((type) => !there.has(type))).toEqual([]);
    });

    test('finds nothing that matters in any template, in any region', async () => {
      const regions = await readRegions(python);
      console.log(`${regions.length} regions`);
      const found = [...(await lint(python, few, regions)), ...(await lint(python, others, ['us-east-1']))];
      const isAccepted = ({ rule, template }: Finding): boolean =>
        accepted[rule] !== undefined && [undefined, template].includes(accepted[rule].in);
      expect(found.filter((one) => !isAccepted(one)).map(({ text }) => text)).toEqual([]);
      // What is no longer found need not be accepted.
      expect(new Set(found.map(({ rule }) => rule))).toEqual(new Set(Object.keys(accepted)));
    });

    test('finds a property that AWS refuses, and a resource that one of the regions does not have', async () => {
      const Connector = { Type: 'AWS::AppRunner::VpcConnector', Properties: { Subnets: 'none' } };
      const planted = new Map([['planted', { Resources: { Connector } }]]);
      const found = await lint(python, planted, ['us-east-1', 'sa-east-1']);
      expect(found.map(({ text }) => text)).toEqual([
        expect.stringMatching(
          /^planted: E3006 .*'AWS::AppRunner::VpcConnector' does not exist in 'sa-east-1'/,
        ),
        expect.stringMatching(/^planted: E3012 'none' is not of type 'array'/),
      ]);
    });
  },
);
