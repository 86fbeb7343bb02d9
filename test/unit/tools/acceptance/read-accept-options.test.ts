import { expect, test } from 'vitest';
import { checks } from '../../../../tools/acceptance/checks/checks.ts';
import { readAcceptOptions } from '../../../../tools/acceptance/read-accept-options.ts';
import { UsageError } from '../../../../tools/cli/terminal/errors.ts';

test('the stage is accept by default, and no real stage is taken', () => {
  expect(readAcceptOptions([])).toMatchObject({ stage: 'accept', keep: false, again: false, checks });
  expect(readAcceptOptions(['-c', 'stage=accept-eu', '-c', 'sweepEveryMinutes=2'])).toMatchObject({
    ...{ stage: 'accept-eu', settings: { sweepEveryMinutes: '2' } },
  });
  for (const stage of ['prod', 'local', 'acceptance', '']) {
    expect(() => readAcceptOptions(['-c', `stage=${stage}`]), stage).toThrow(UsageError);
  }
  expect(() => readAcceptOptions(['-c', 'nonsense'])).toThrow('"nonsense" is not <setting>=<value>.');
});

test('a kept stage is checked again, as a whole or in part', () => {
  const options = readAcceptOptions(['--again', '--only', 'cost, erase', '--json']);
  expect(options).toMatchObject({ again: true, keep: false, destroy: false, json: true });
  expect(options === 'help' ? [] : options.checks.map(({ id }) => id)).toEqual(['erase', 'cost']);
});

test('an unknown check, or two ways to run, are refused before anything is deployed', () => {
  expect(() => readAcceptOptions(['--only', 'nonsense'])).toThrow('There is no check nonsense.');
  expect(() => readAcceptOptions(['--again', '--destroy'])).toThrow('Only one of --emulator, --keep');
});
