import { Duration } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { acknowledgeWildcard } from '../constructs/allow.ts';
import { CosechaFunction } from '../constructs/cosecha-function.ts';
import { eraseTimeout } from '../constructs/erase-queue.ts';
import type { Network } from '../constructs/network-props.ts';
import { reconcileTimeout } from '../constructs/reconcile-queue.ts';
import { publishTimeout } from '../constructs/stream/outcome-bus.ts';
import type { Resources } from '../resources.ts';
import { type Config, dispatcherConcurrency } from '../settings/config.ts';
import { environmentOf, permissionsOf, type Used } from './apply-contract.ts';
import { contracts, type FunctionCode, type FunctionName } from './contracts.ts';
import { providerTimeoutsOf } from './function-environment.ts';

/** What distinguishes one function from the others, beside its contract. */
type Size = Pick<
  ConstructorParameters<typeof CosechaFunction>[2],
  'timeout' | 'memoryMB' | 'network' | 'recursiveLoop' | 'reservedConcurrency' | 'asynchronous'
> & { readonly environment?: Readonly<Record<string, string>> };

export type CosechaFunctions = ReturnType<typeof createFunctions>;

/** All functions, each with exactly the environment and the permissions of its contract. */
export const createFunctions = (
  scope: Construct,
  resources: Resources,
  // The network is of those that call the provider.
  { code, network }: { readonly code: FunctionCode; readonly network: Network | undefined },
) => {
  const { config, dataKey, sealKey, secrets, storage, queue, eraseQueue, outcomeBus } = resources;
  const readFingerprintKey: IRole[] = [];
  const create = (id: string, name: FunctionName, { environment, ...size }: Size): CosechaFunction => {
    const contract = contracts[name];
    const made = new CosechaFunction(scope, id, {
      config,
      dataKey,
      name,
      code: code[name],
      ...size,
      environment: { ...environmentOf(contract, used), ...environment },
      permissions: permissionsOf(contract, used),
    });
    // The policies of these two keys name their users, so that no IAM policy can add one.
    for (const use of contract.SEAL_KEY_ARN ?? []) sealKey.allow(use, made);
    if (contract.FINGERPRINT_KEY_SECRET) readFingerprintKey.push(made.role);
    if (contract.RESULTS_BUCKET ?? contract.resultsLocation)
      acknowledgeWildcard(made.role, storage.results.arnForObjects('*'), everyResult);
    return made;
  };
  let used: Used = resources;
  const dispatchStarts = create('StartDispatcher', 'dispatch-starts', {
    timeout: Duration.seconds(dispatcherSeconds),
    // CPU follows memory. A release is two calls of AWS, of some 2 ms of CPU together, and 200 a second are the most that can be set: with
    // what a tick reads some 500 ms, of which 1,024 / 1,769 of a vCPU has 579.
    memoryMB: 1_024,
    reservedConcurrency: dispatcherConcurrency,
    // The rule invokes it again within a minute, and the next start that has to wait does. An older event finds nothing new to do.
    asynchronous: { maxEventAge: Duration.seconds(60), retryAttempts: 0 },
  });
  used = { ...resources, dispatcher: dispatchStarts.function };
  const functions = {
    dispatchStarts,
    requestExtraction: create('RequestExtraction', 'request-extraction', {
      timeout: Duration.seconds(15),
      // Of `npm run cost`: 12 ms of CPU take 42 ms more for the caller than with 512 MB, and the bill is $0.14 less.
      memoryMB: 256,
      reservedConcurrency: config.requestReservedConcurrency,
    }),
    getExtraction: create('GetExtraction', 'get-extraction', {
      // Of the 30 s that API Gateway waits. A summary of 10,000 makes 110 calls of DynamoDB, one after the other.
      timeout: Duration.seconds(29),
      memoryMB: 256,
    }),
    startTask: create('StartTask', 'start-task', startTaskSize(config, network)),
    receiveWebhook: create('ReceiveWebhook', 'receive-webhook', {
      // The provider closes the connection after 5 s. The function still finishes its writes, and repeats are harmless.
      timeout: Duration.seconds(10),
      memoryMB: 512,
      reservedConcurrency: config.webhookReservedConcurrency,
    }),
    reconcileExtraction: create(
      'ReconcileExtraction',
      'reconcile-extraction',
      reconcileSize(config, network),
    ),
    sweepExtractions: create('SweepExtractions', 'sweep-extractions', {
      timeout: sweepTimeout(config),
      // Leases take CPU, which follows memory. A sweep that finds nothing ends in 0.2 s whatever its size.
      memoryMB: 512,
    }),
    eraseExtractions: create('EraseExtractions', 'erase-extractions', {
      timeout: eraseTimeout,
      memoryMB: 256,
      // While a record is open its message sends the next one, every 15 minutes at last. The chain ends by itself: everything open closes.
      recursiveLoop: RecursiveLoop.ALLOW,
    }),
    manageConsents: create('ManageConsents', 'manage-consents', consentsSize(config, network)),
    ...(config.callersMayErase && {
      manageErasures: create('ManageErasures', 'manage-erasures', erasuresSize),
    }),
    ...(outcomeBus && { publishEvents: create('EventPublisher', 'publish-events', publisherSize) }),
  };
  queue.consumeWith(functions.reconcileExtraction);
  eraseQueue.consumeWith(functions.eraseExtractions);
  if (functions.publishEvents) outcomeBus?.publishWith(functions.publishEvents, resources);
  secrets.reserveFingerprintKey(...readFingerprintKey);
  return functions;
};

const everyResult =
  'Objects are named by extraction, so this bucket, which holds nothing else, is the narrowest possible resource.';

/** An invocation ends so soon that a deployment replaces it within minutes, and the next one goes on. */
const dispatcherSeconds = 300;

const startTaskSize = (config: Config, network: Network | undefined): Size => ({
  timeout: Duration.seconds(config.startTimeoutSeconds),
  // It mostly waits for the provider, and no caller waits for its answer. It needs about 95 MB (`memoryForResults`). `npm run cost`: its
  // 25 ms of CPU take 276 ms at 160 / 1,769 of a vCPU and 173 ms at 256, and a million of them cost $0.50 less.
  memoryMB: 160,
  network,
  reservedConcurrency: config.startReservedConcurrency,
});

// As start-task, it mostly waits. With 160 / 1,769 of a vCPU, 2 ms of CPU for an event take 22.
const publisherSize: Size = { timeout: publishTimeout, memoryMB: 160 };

const reconcileSize = (config: Config, network: Network | undefined): Size => ({
  timeout: reconcileTimeout(config),
  memoryMB: memoryForResults(config),
  network,
  reservedConcurrency: config.reconcileReservedConcurrency,
  // A message `due` sends the next one, so that an extraction by consent is polled about sixty times in two hours. Lambda
  // would stop that after 16 (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html). The chain ends by
  // itself: deadline, grace and collectFor close the record, and only the process that moved dueAt sends another message.
  recursiveLoop: RecursiveLoop.ALLOW,
});

/** A sweep that found everything due may take longer than to the next one, which then finds what is left. */
const sweepTimeout = (config: Config): Duration =>
  Duration.seconds(Math.min(900, 60 * config.sweepEveryMinutes));

/** As get-extraction: of the 30 s that API Gateway waits. The tombstones of 10,000 records are a few queries. */
const erasuresSize: Size = { timeout: Duration.seconds(29), memoryMB: 256 };

const consentsSize = (config: Config, network: Network | undefined): Size => ({
  timeout: Duration.seconds(consentsTimeoutSeconds),
  memoryMB: 512,
  network,
  environment: { PROVIDER_TIMEOUTS: providerTimeoutsOf(config, consentsProviderTimeoutMs) },
});

/** API Gateway ends an integration after 30 s. One second less lets the function answer with its own problem. */
const consentsTimeoutSeconds = 29;

/**
 * A request about consents makes up to four calls to the provider: a Task Token, the call, and both again after a 401.
 * 4 × 6.5 s leave 3 s for a cold start and for reading the secret twice.
 */
const consentsProviderTimeoutMs = 6_500;

/**
 * In MB. `npm run bench:memory` prints 70 without results, and up to 6.5 more for each MiB of the largest results. Lambda's
 * own processes are assumed to take 25. A tenth is added on top. Default: 1.1 × (95 + 6.5 × 20) = 248, so 256. It is never
 * less, because CPU follows memory. 256 MB have 256 / 1,769 = 0.145 of a vCPU. With it, the 2 s of CPU for the worst 20 MiB
 * take 14 s, of the 40 s that `reconcileTimeout` leaves for parsing and storing.
 */
const memoryForResults = (config: Config): number =>
  Math.max(256, Math.round(1.1 * (95 + (6.5 * config.resultsMaxBytes) / 1_048_576)));
