import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { policiesFor } from '../../support/aws/documented-policies.ts';
import { flatten, statementsOfLevel, synthesize } from '../infra/synth.ts';
import { read } from './pages.ts';

/** A viewer reads the tables whose names begin so: Extractions with its indexes, and Erasures. */
const named = (arn: string): string =>
  arn.endsWith('StorageE*') ? '<StorageExtractions.Arn>/index/ <StorageErasures.Arn>' : arn;

type AwsCommand = { readonly service: string; readonly operation: string; readonly line: string };

/** Every command of the AWS CLI in a text, with its continued lines, and those that the outputs of secrets have. */
const awsCommandsIn = (text: string): readonly AwsCommand[] =>
  text
    .replaceAll('\\\n', '')
    .split('\n')
    .flatMap((line) =>
      [...line.matchAll(/(?<![\w/.@-])aws ([a-z0-9-]+) ([a-z0-9-]+)/g)].map(
        ([, service = '', operation = '']) => ({ service, operation, line }),
      ),
    );

describe('the policy that the runbook names allows each command of the AWS CLI', () => {
  const runbook = read('docs/operations.md');
  const levels = ['viewer', 'operator', 'admin'];

  /** The last row is of who deploys, who needs more than any of the policies. */
  const rows = [...runbook.matchAll(/^\| (.*) \| (?:also )?(?:`…-(\w+)`|the permissions to deploy) \|$/gm)];
  const levelOf = (heading: string, isFix: boolean): string | undefined => {
    const named = rows.find(([, parts = '']) => parts.includes(`[${heading}]`));
    if (named !== undefined) return named[2];
    return isFix ? 'operator' : 'viewer';
  };

  const { template } = synthesize({ publishEvents: 'true' });
  const allowedBy = (level: string): readonly string[] =>
    statementsOfLevel(template, level).flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((one) => `${action} ${named(flatten(one))}`)),
    );

  const prefixes: Readonly<Record<string, string>> = { stepfunctions: 'states' };
  const actionOf = ({ service, operation }: AwsCommand): string => {
    // `wait table-exists` describes the table until it is there.
    const called = operation === 'wait' ? 'describe-table' : operation;
    const name = called.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return `${prefixes[service] ?? service}:${name}`;
  };

  /** What the ARN of the resource contains, by the argument that names it. */
  const resources: readonly (readonly [RegExp, (name: string) => string])[] = [
    [/--index-name \w+()/, () => '<StorageExtractions.Arn>/index/'],
    [/-table-name "\$\(cosecha output (\w+)TableName\)"/, (name) => `<Storage${name}.Arn>`],
    [/--table-name "\$\{STACK\}(_restored)"/, (name) => `table/Cosecha-prod${name}`],
    [/--secret-id "\$STACK(\/)/, (name) => `secret:Cosecha-prod${name}`],
    [/output (\w+) --resource Lambda::Function\)/, (name) => `<${name}Function.Arn>`],
    [/output (\w+) --resource SQS::Queue\)/, (name) => `<${name}DeadLetters.Arn>`],
    [/output (\w+) --resource Events::Rule\)/, (name) => `<${name}.Arn>`],
    // Those of doctor.
    [/enable-rule --name \$\{()/, () => '<SafetyNetSweep.Arn>'],
    [/--uuid ()/, () => 'event-source-mapping:*'],
    [/--key-id \$\{()/, () => '<SealKey.Arn>'],
  ];
  const resourceOf = ({ line }: AwsCommand): string => {
    const [found] = resources.flatMap(([pattern, arn]) => {
      const [, name] = pattern.exec(line) ?? [];
      return name === undefined ? [] : [arn(name)];
    });
    return found ?? '';
  };

  const parts = runbook.split(/^(?=###? )/m).flatMap((chapter) => {
    const [, heading = ''] = /^#+ (.*)$/m.exec(chapter) ?? [];
    const [before = '', fix = ''] = chapter.split('**Fix.**');
    return [before, fix].map((text, index) => ({ level: levelOf(heading, index === 1), heading, text }));
  });
  const commands = parts.flatMap(({ level, heading, text }) =>
    awsCommandsIn(text).map((command) => ({ level, heading, command })),
  );

  test.each(
    commands
      .filter(({ level }) => level !== undefined)
      .map(
        ({ level = '', heading, command }) =>
          [heading, level, actionOf(command), resourceOf(command)] as const,
      ),
  )('%s, %s: %s %s', (_heading, level, action, resource) => {
    const allowed = levels.slice(0, levels.indexOf(level) + 1).flatMap(allowedBy);
    expect(allowed.filter((line) => line.startsWith(`${action} `) && line.includes(resource))).not.toEqual(
      [],
    );
  });

  const cliPage = read('docs/cli.md');
  /** The highest policy that a command of `cosecha` needs. */
  const policyOf = (line: string): string => levels[policiesFor(cliPage, line.split(/\s+/)).length - 1] ?? '';

  const roles: Readonly<Record<string, RegExp>> = {
    operator: /\b(an operator|operators)\b/i,
    admin: /\badministrators?\b/,
  };
  /** Whether a text says whose it is. */
  const names = (text: string, level = ''): boolean => roles[level]?.test(text) === true;

  /** Commands in blocks and in sentences. */
  const own = parts.flatMap(({ level, heading, text }) =>
    [...text.matchAll(/(?:^|`|\$\()cosecha ([a-z][^`)\n|]*)/gm)].map(([, line = '']) => ({
      level,
      heading,
      text,
      line,
    })),
  );

  test('each command of cosecha needs no more than the policy of its part, or the part says whose it is', () => {
    expect(own.length).toBeGreaterThan(60);
    const refused = own
      .filter(({ level = 'admin', line }) => levels.indexOf(policyOf(line)) > levels.indexOf(level))
      .filter(({ line, text }) => !names(text, policyOf(line)));
    expect(refused.map(({ heading, line }) => `${heading}: ${line}`)).toEqual([]);
  });

  /** What the console of AWS calls for each page that the runbook names. */
  const consolePages: readonly (readonly [RegExp, readonly string[]])[] = [
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/iam-identity-based-access-control-cw.html
    [
      /\bdashboard\b/,
      ['ListDashboards', 'GetDashboard', 'GetMetricData', 'DescribeAlarms'].map(
        (action) => `cloudwatch:${action}`,
      ),
    ],
    [/\bCloudTrail\b/, ['cloudtrail:LookupEvents']],
  ];

  test.each(
    parts.flatMap(({ level = 'admin', heading, text }) =>
      consolePages.flatMap(([page, actions]) => (page.test(text) ? [{ heading, level, text, actions }] : [])),
    ),
  )('each page of the console that "$heading" names may be opened: $level', ({ level, text, actions }) => {
    const allowed = levels.slice(0, levels.indexOf(level) + 1).flatMap(allowedBy);
    const refused = actions.filter((action) => !allowed.some((line) => line.startsWith(`${action} `)));
    expect(names(text, 'admin') ? [] : refused).toEqual([]);
  });

  test('no first step of an entry reads a table from end to end', () => {
    const entries = runbook.split(/^(?=### )/m).filter((one) => one.includes('**First.**'));
    expect(entries.length).toBeGreaterThan(35);
    const scanning = entries.filter((one) => /\bscan\b/.test(one.split('**Fix.**')[0] ?? ''));
    expect(scanning.map((one) => one.split('\n')[0])).toEqual([]);
  });

  const doctor = new URL('../../../tools/cli/doctor/', import.meta.url);
  const printed = readdirSync(doctor)
    .flatMap((file) => read(`tools/cli/doctor/${file}`).split('\n'))
    .filter((line) => !/with the permissions to deploy/i.test(line))
    .flatMap(awsCommandsIn)
    .map((command) => [actionOf(command), resourceOf(command)] as const);

  test.each(printed)('what doctor prints may be run by an operator: %s %s', (action, resource) => {
    const allowed = ['viewer', 'operator'].flatMap(allowedBy);
    expect(resource).not.toBe('');
    expect(allowed.filter((line) => line.startsWith(`${action} `) && line.includes(resource))).not.toEqual(
      [],
    );
  });

  test('and every part that the table names has such a command', () => {
    expect(rows).toHaveLength(4);
    const named = rows.flatMap(([, part = '']) =>
      [...part.matchAll(/\[([^\]]+)\]\(#/g)].map(([, name]) => name),
    );
    expect(named.filter((name) => ![...commands, ...own].some(({ heading }) => heading === name))).toEqual(
      [],
    );
  });
});
