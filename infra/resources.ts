import type { Construct } from 'constructs';
import { stackNameOf } from '../lib/aws/stage.ts';
import { DataKey } from './constructs/data-key.ts';
import { EraseQueue } from './constructs/erase-queue.ts';
import { extractionMachineArn } from './constructs/extraction-machine.ts';
import { ReconcileQueue } from './constructs/reconcile-queue.ts';
import { SealKey } from './constructs/seal-key.ts';
import { Secrets } from './constructs/secrets.ts';
import { Storage } from './constructs/storage.ts';
import { OutcomeBus } from './constructs/stream/outcome-bus.ts';
import type { Config } from './settings/config.ts';

/** What exists before the functions, and what their environment and permissions refer to. */
export type Resources = ReturnType<typeof createResources>;

export const createResources = (scope: Construct, config: Config, existing: DataKey['key'] | undefined) => {
  const dataKey = new DataKey(scope, 'DataKey', { config, name: stackNameOf(config.stage), existing });
  const sealKey = new SealKey(scope, 'SealKey', { config });
  const secrets = new Secrets(scope, 'Secrets', { config, dataKey });
  const storage = new Storage(scope, 'Storage', { config, dataKey });
  const queue = new ReconcileQueue(scope, 'ReconcileQueue', { config });
  const eraseQueue = new EraseQueue(scope, 'EraseQueue');
  const outcomeBus = config.publishEvents ? new OutcomeBus(scope, 'OutcomeBus', { config }) : undefined;
  // The machine itself refers to the functions.
  const machineArn = extractionMachineArn(scope, config);
  return { config, dataKey, sealKey, secrets, storage, queue, eraseQueue, outcomeBus, machineArn };
};
