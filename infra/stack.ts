import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { stackNameOf } from '../lib/aws/stage.ts';
import type { FunctionCode } from './bundle/bundle-functions.ts';
import type { Config } from './config.ts';
import { DataKey } from './constructs/data-key.ts';
import { ReconcileQueue } from './constructs/reconcile-queue.ts';
import { isLocal } from './constructs/removal.ts';
import { SealKey } from './constructs/seal-key.ts';
import { Secrets } from './constructs/secrets.ts';
import { Storage } from './constructs/storage.ts';
import { createFunctions, type Resources } from './functions.ts';
import { adaptToEmulator } from './local/emulator/adapt-to-emulator.ts';
import { addOutputs } from './outputs.ts';
import { connectFunctions } from './wiring.ts';

/** All of Cosecha in one stack named `Cosecha-<stage>`. It is bound to no account and no region. */
export class CosechaStack extends Stack {
  constructor(scope: Construct, config: Config, code: FunctionCode) {
    super(scope, stackNameOf(config.stage), {
      description: 'Cosecha: starts extractions of financial data and never loses an outcome',
    });
    const resources = createResources(this, config);
    const functions = createFunctions(this, resources, code);
    const wiring = connectFunctions(this, resources, functions);
    if (isLocal(config)) adaptToEmulator(resources.sealKey, resources.queue, functions, wiring.alarms);
    addOutputs(this, resources, functions, wiring);
  }
}

const createResources = (stack: Stack, config: Config): Resources => {
  const dataKey = new DataKey(stack, 'DataKey', { config });
  const sealKey = new SealKey(stack, 'SealKey', { config });
  const secrets = new Secrets(stack, 'Secrets', { config });
  const storage = new Storage(stack, 'Storage', { config, dataKey });
  const queue = new ReconcileQueue(stack, 'ReconcileQueue', { config });
  return { config, dataKey, sealKey, secrets, storage, queue };
};
