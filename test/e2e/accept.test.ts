/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';
import type { CheckShell } from '../../tools/acceptance/check-stage.ts';
import { checks, chooseChecks } from '../../tools/acceptance/checks/checks.ts';
import { type EmulatedStage, startEmulatedStage } from '../../tools/acceptance/emulated-stage.ts';
import { createRunDirectory } from '../../tools/local/paths.ts';
import { faultsEnvironment } from './injected-failures/preload-variables.ts';
import { patchWebhook, plantedFaults, useWrongProvider, webhookFaults } from './support/break-deployment.ts';

let stage: EmulatedStage;
let directory: string;
let nodeOptions: string;

beforeAll(async () => {
  directory = await createRunDirectory('e2e-accept', new Date());
  const env = await faultsEnvironment(directory);
  nodeOptions = env.NODE_OPTIONS;
  stage = await startEmulatedStage({ directory, env });
});

afterAll(() => (stage as EmulatedStage | undefined)?.stop());

type Report = { readonly id: string; readonly kind: string; readonly explanation: string };

/** Checks the stage, and returns the exit code and the reports, without the figures of this machine. */
const check = async (only?: readonly string[]) => {
  const reports: Report[] = [];
  const shell: CheckShell = {
    print: (_, report) => reports.push(report as Report),
    hint: () => undefined,
    wait: () => undefined,
    now: () => new Date(),
    sleep: (milliseconds, signal) => delay(milliseconds, undefined, defined({ signal })),
    randomId: randomUUID,
  };
  const stop = new AbortController().signal;
  return { code: await stage.check({ checks: chooseChecks(only), shell, stop }), reports };
};

/** Everything that may be skipped on the emulator, so that nothing else is. */
const skippedOnEmulator = [
  'stream-consumer',
  'seal-key-administrator',
  'alarm-raised',
  'metrics',
  'cold-starts',
  'cost',
  'unsigned-requests',
];

/** Each check ends by its own limit. */
const acceptTimeoutMs = 900_000;

// Each test after the first breaks the stage; only those of the webhook repair it.
describe('npm run accept', { concurrent: false, timeout: acceptTimeoutMs }, () => {
  test('passes every check on the emulator but those that it skips by name', async () => {
    const { code, reports } = await check();
    expect(reports.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect(code).toBe(0);
    const skipped = reports.filter(({ kind }) => kind === 'skipped');
    expect(skipped.map(({ id }) => id).toSorted()).toEqual(skippedOnEmulator.toSorted());
    for (const { explanation } of skipped) expect(explanation).toMatch(/^emulator: /);
    const passed = reports.filter(({ kind }) => kind === 'passed').map(({ id }) => id);
    expect(passed.toSorted()).toEqual(
      checks
        .map(({ id }) => id)
        .filter((id) => !skippedOnEmulator.includes(id))
        .toSorted(),
    );
  });

  test.each(webhookFaults)('names the planted fault that $what', async ({ script, check: id, named }) => {
    const undo = await patchWebhook(stage, script, { directory, nodeOptions });
    const { code, reports } = await check([id]);
    expect(reports).toMatchObject([{ id, kind: 'failed', explanation: expect.stringMatching(named) }]);
    expect(code).toBe(1);
    await undo();
  });

  test('names every fault that is planted into the stage', async () => {
    for (const { plant } of plantedFaults) await plant(stage);
    const only = [...new Set(plantedFaults.map(({ check }) => check))];
    const { code, reports } = await check(only);
    for (const { check, named } of plantedFaults) {
      expect(reports.find(({ id }) => id === check)).toMatchObject({
        kind: 'failed',
        explanation: expect.stringMatching(named),
      });
    }
    expect(code).toBe(1);
  });

  test('does nothing where one function has another provider than the fake provider', async () => {
    await useWrongProvider(stage, 'https://provider.example');
    await expect(check()).rejects.toThrow(/start-task at https:\/\/provider\.example\.\nNothing was done\./);
  });
});
