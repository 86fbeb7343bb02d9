import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { read } from './metric-names.ts';

type AwsCommand = {
  readonly page: string;
  readonly service: string;
  readonly operation: string;
  readonly line: string;
};

const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(new URL('../../../docs', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Every command of the AWS CLI in the pages, with its continued lines. */
const awsCommands: readonly AwsCommand[] = pages.flatMap((page) =>
  read(page)
    .replaceAll('\\\n', '')
    .split('\n')
    .flatMap((line) =>
      [...line.matchAll(/(?<![\w/.@-])aws ([a-z0-9-]+) ([a-z0-9-]+)/g)].map(
        ([, service = '', operation = '']) => ({
          ...{ page, service, operation, line },
        }),
      ),
    ),
);

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html: without AlarmTypes, metric alarms only.
test('every page that lists alarms lists composite alarms, too', () => {
  const listing = awsCommands.filter(({ operation }) => operation === 'describe-alarms');
  expect(listing).not.toEqual([]);
  for (const { line } of listing) {
    expect(line).toContain('--alarm-types MetricAlarm CompositeAlarm');
    expect(line).toContain('[MetricAlarms,CompositeAlarms][]');
  }
});
