import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { ExtractionApi } from '../constructs/extraction-api.ts';
import { ExtractionMachine } from '../constructs/extraction-machine.ts';
import { Alarms } from '../constructs/observability/alarms.ts';
import { CosechaDashboard } from '../constructs/observability/dashboard.ts';
import { metricsOf } from '../constructs/observability/metrics.ts';
import { UsageQuery } from '../constructs/observability/usage-query.ts';
import { ReconcileRules } from '../constructs/reconcile-rules.ts';
import { isLocal } from '../constructs/removal-policy.ts';
import { streamParameters } from '../constructs/stream/extraction-consumer.ts';
import { OperatorPolicies } from '../policies/operator-policies.ts';
import type { Resources } from '../resources.ts';
import type { CosechaFunctions } from './create-functions.ts';

export type Connected = ReturnType<typeof connectFunctions>;

/** Everything that invokes the functions or reads what they write: machine, rules, API, stream, alarms, dashboard. */
export const connectFunctions = (scope: Construct, resources: Resources, functions: CosechaFunctions) => {
  const { config, dataKey, queue, storage } = resources;
  const { machine, logGroup: machineLog } = new ExtractionMachine(scope, 'ExtractionMachine', {
    config,
    dataKey,
    startTask: functions.startTask.function,
    reconcile: functions.reconcileExtraction.function,
    startLine: storage.startLine,
  });
  const rules = new ReconcileRules(scope, 'SafetyNet', {
    config,
    queue,
    sweep: functions.sweepExtractions,
    dispatcher: functions.dispatchStarts,
    machine,
  });
  const api = new ExtractionApi(scope, 'ExtractionApi', { config, dataKey, functions });
  const streamArn = publishStream(scope, resources);
  const watched = { api, machine, executionBroken: rules.executionBroken };
  const consuming = [queue, resources.eraseQueue, ...(resources.outcomeBus ? [resources.outcomeBus] : [])];
  const triggers = [...rules.triggers, ...consuming.flatMap((its) => its.triggers)];
  const policies = new OperatorPolicies(scope, 'OperatorPolicies', {
    resources,
    functions,
    machine,
    rules: rules.all,
    serviceLogs: [machineLog, api.accessLog],
    api: api.api,
    streamArn,
  });
  return { ...watched, streamArn, policies, triggers, ...monitor(scope, resources, functions, watched) };
};

/** Publishes what consumers of the stream need in the Parameter Store. Returns the ARN of the stream. */
const publishStream = (scope: Construct, { config, dataKey, storage }: Resources): string => {
  const streamArn = storage.extractions.tableStreamArn ?? '';
  const names = streamParameters(config.stage);
  const publish = (id: string, parameterName: string, stringValue: string) =>
    new StringParameter(scope, id, { parameterName, stringValue });
  publish('StreamArnParameter', names.streamArn, streamArn);
  publish('DataKeyArnParameter', names.dataKeyArn, dataKey.key.keyArn);
  publish('ResultsBucketNameParameter', names.resultsBucketName, storage.results.bucketName);
  return streamArn;
};

type Watched = Readonly<{
  api: ExtractionApi;
  machine: ExtractionMachine['machine'];
  executionBroken: ReconcileRules['executionBroken'];
}>;

const monitor = (scope: Construct, resources: Resources, functions: CosechaFunctions, watched: Watched) => {
  const { config } = resources;
  const metrics = metricsOf({ ...resources, ...functions, ...watched });
  const { requestExtraction, startTask, receiveWebhook, reconcileExtraction } = functions;
  const logGroups = [startTask, receiveWebhook, reconcileExtraction].map(({ logGroup }) => logGroup);
  const alarms = new Alarms(scope, 'Alarms', { config, metrics, logGroups }).all;
  // The emulator does not create one.
  if (!isLocal(config))
    new UsageQuery(scope, 'Usage', { config, logGroups: [requestExtraction.logGroup, ...logGroups] });
  const dashboard = new CosechaDashboard(scope, 'Dashboard', { config, metrics, alarms });
  return { alarms, dashboard };
};
