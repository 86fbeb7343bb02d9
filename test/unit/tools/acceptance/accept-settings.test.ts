import { expect, test } from 'vitest';
import { readConfig } from '../../../../infra/config.ts';
import { readAcceptOptions } from '../../../../tools/acceptance/read-accept-options.ts';
import { awsSettings, emulatorSettings } from '../../../../tools/acceptance/settings.ts';
import { ExpectedFailure } from '../../../../tools/local/expected-failure.ts';

test('the settings of both kinds of stage contradict none other', () => {
  expect(readConfig({ stage: 'accept', ...awsSettings })).toMatchObject({
    probe: true,
    deadlineSeconds: 90,
  });
  expect(readConfig({ stage: 'local', ...emulatorSettings })).toMatchObject({ probe: true });
});

test('the stage is accept by default, and no real stage is taken', () => {
  expect(readAcceptOptions([])).toMatchObject({ stage: 'accept', keep: false, args: [] });
  expect(
    readAcceptOptions(['-c', 'stage=accept-eu', '-c', 'sweepEveryMinutes=2', '--only', 'erase', '--json']),
  ).toMatchObject({
    ...{ stage: 'accept-eu', settings: { sweepEveryMinutes: '2' }, args: ['--only', 'erase', '--json'] },
  });
  for (const stage of ['prod', 'local', 'acceptance', '']) {
    expect(() => readAcceptOptions(['-c', `stage=${stage}`]), stage).toThrow(ExpectedFailure);
  }
  expect(() => readAcceptOptions(['-c', 'nonsense'])).toThrow('"nonsense" is not <setting>=<value>.');
});
