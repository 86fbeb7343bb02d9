import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPython } from '../../tools/local/emulator/find-python.ts';
import { preparePython } from '../../tools/local/emulator/python-environment.ts';
import { runCommand } from '../../tools/local/run-command.ts';
import { describeIfInstalled } from '../support/describe-if-installed.ts';
import { everyTemplate } from './stacks.ts';

const regions = ['us-east-1', 'eu-west-1', 'sa-east-1'];

/** Findings that change nothing in a deployment, by rule. */
const accepted: Readonly<Record<string, { readonly in?: string; readonly reason: string }>> = {
  I1022: { reason: 'The CDK writes Fn::Join where a person would write Fn::Sub.' },
  W3005: { reason: 'The CDK adds a role to DependsOn beside its policy, although the role is referred to.' },
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
const lint = async (python: string, templates: ReadonlyMap<string, object>): Promise<readonly Finding[]> => {
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

    test('finds nothing that matters in any template, in three regions', async () => {
      const templates = [...everyTemplate()].map(([name, template]) => [name, template.toJSON()] as const);
      const found = await lint(python, new Map(templates));
      const isAccepted = ({ rule, template }: Finding): boolean =>
        accepted[rule] !== undefined && [undefined, template].includes(accepted[rule].in);
      expect(found.filter((one) => !isAccepted(one)).map(({ text }) => text)).toEqual([]);
      // What is no longer found need not be accepted.
      expect(new Set(found.map(({ rule }) => rule))).toEqual(new Set(Object.keys(accepted)));
    });

    test('finds a property that AWS refuses, and a resource that one of the regions does not have', async () => {
      const Connector = { Type: 'AWS::AppRunner::VpcConnector', Properties: { Subnets: 'none' } };
      const found = await lint(python, new Map([['planted', { Resources: { Connector } }]]));
      expect(found.map(({ text }) => text)).toEqual([
        expect.stringMatching(
          /^planted: E3006 .*'AWS::AppRunner::VpcConnector' does not exist in 'sa-east-1'/,
        ),
        expect.stringMatching(/^planted: E3012 'none' is not of type 'array'/),
      ]);
    });
  },
);
