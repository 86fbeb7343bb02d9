import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../tools/acceptance/checks/checks.ts';
import { type EmulatedStage, startEmulatedStage } from '../../tools/acceptance/emulated-stage.ts';
import { createRunDirectory } from '../../tools/local/paths.ts';
import { faultsEnvironment } from './faults/environment.ts';
import { plantedFaults, useWrongProvider } from './support/plant-faults.ts';

let stage: EmulatedStage;

beforeAll(async () => {
  const directory = await createRunDirectory('e2e-accept', new Date());
  stage = await startEmulatedStage({ directory, env: await faultsEnvironment(directory) });
});

afterAll(() => (stage as EmulatedStage | undefined)?.stop());

type Report = { readonly id: string; readonly kind: string; readonly why: string };

/** Runs `cosecha accept`, and returns its exit code and its reports, without the figures of this machine. */
const accept = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await stage.accept(['--json', ...args], 'pipe');
  const reports = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Report);
  return { code, reports, stderr };
};

/** Everything that may be skipped on the emulator, so that nothing else is. */
const skippedOnEmulator = [
  'stream-consumer',
  'fan-out',
  'seal-key-administrator',
  'alarm-raised',
  'metrics',
  'cold-starts',
  'cost',
];

/** Each check ends by its own limit. */
const acceptTimeoutMs = 900_000;

// The second test breaks the stage of the first.
describe('cosecha accept', { concurrent: false, timeout: acceptTimeoutMs }, () => {
  test('passes every check on the emulator but those that it skips by name', async () => {
    const { code, reports, stderr } = await accept();
    expect(reports.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const skipped = reports.filter(({ kind }) => kind === 'skipped');
    expect(skipped.map(({ id }) => id).toSorted()).toEqual(skippedOnEmulator.toSorted());
    for (const { why } of skipped) expect(why).toMatch(/^emulator: /);
    const passed = reports.filter(({ kind }) => kind === 'passed').map(({ id }) => id);
    expect(passed.toSorted()).toEqual(
      checks
        .map(({ id }) => id)
        .filter((id) => !skippedOnEmulator.includes(id))
        .toSorted(),
    );
  });

  test('names every fault that is planted into the stage', async () => {
    for (const { plant } of plantedFaults) await plant(stage);
    const only = [...new Set(plantedFaults.map(({ check }) => check))];
    const { code, reports } = await accept('--only', only.join(','));
    for (const { check, named } of plantedFaults) {
      expect(reports.find(({ id }) => id === check)).toMatchObject({
        kind: 'failed',
        why: expect.stringMatching(named),
      });
    }
    expect(code).toBe(1);
  });

  test('does nothing where one function has another provider than the fake provider', async () => {
    await useWrongProvider(stage, 'https://provider.example');
    const { code, reports, stderr } = await accept();
    expect({ code, reports }).toEqual({ code: 1, reports: [] });
    expect(stderr).toContain('start-task at https://provider.example');
    expect(stderr).toContain('Nothing was done.');
  });
});
