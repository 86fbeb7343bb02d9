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
  const { config, dataKey, queue, eraseQueue, outcomeBus } = resources;
  const extractionMachine = new ExtractionMachine(scope, 'ExtractionMachine', { ...resources, ...functions });
  const { machine } = extractionMachine;
  const rules = new ReconcileRules(scope, 'SafetyNet', {
    config,
    queue,
    sweep: functions.sweepExtractions,
    dispatcher: functions.dispatchStarts,
    machine,
  });
  const api = new ExtractionApi(scope, 'ExtractionApi', { config, dataKey, functions });
  publishStream(scope, resources);
  const consuming = [queue, eraseQueue, ...(outcomeBus ? [outcomeBus] : [])];
  const triggers = [...rules.triggers, ...consuming.flatMap((its) => its.triggers)];
  const policies = new OperatorPolicies(scope, 'OperatorPolicies', {
    resources,
    functions,
    machine: extractionMachine,
    rules: rules.all,
    api,
  });
  const { executionBroken } = rules;
  const metrics = metricsOf({ ...resources, ...functions, api, machine, executionBroken });
  const { requestExtraction, startTask, receiveWebhook, reconcileExtraction } = functions;
  const logGroups = [startTask, receiveWebhook, reconcileExtraction].map(({ logGroup }) => logGroup);
  const alarms = new Alarms(scope, 'Alarms', { config, metrics, logGroups }).all;
  // The emulator does not create one.
  if (!isLocal(config))
    new UsageQuery(scope, 'Usage', { config, logGroups: [requestExtraction.logGroup, ...logGroups] });
  const dashboard = new CosechaDashboard(scope, 'Dashboard', { config, metrics, alarms });
  return { api, machine, policies, triggers, alarms, dashboard };
};

/** Publishes what consumers of the stream need in the Parameter Store. */
const publishStream = (scope: Construct, { config, dataKey, storage }: Resources): void => {
  const names = streamParameters(config.stage);
  const publish = (id: string, parameterName: string, stringValue: string) =>
    new StringParameter(scope, id, { parameterName, stringValue });
  publish('StreamArnParameter', names.streamArn, storage.streamArn);
  publish('DataKeyArnParameter', names.dataKeyArn, dataKey.key.keyArn);
  publish('ResultsBucketNameParameter', names.resultsBucketName, storage.results.bucketName);
};
