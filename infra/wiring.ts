import type { Stack } from 'aws-cdk-lib';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Alarms } from './constructs/alarms.ts';
import { CosechaDashboard } from './constructs/dashboard.ts';
import { EventFanOut } from './constructs/event-fan-out.ts';
import { ExtractionApi } from './constructs/extraction-api.ts';
import { ExtractionMachine } from './constructs/extraction-machine.ts';
import { metricsOf } from './constructs/metrics.ts';
import { SafetyNet } from './constructs/safety-net.ts';
import { streamParameters } from './constructs/stream-parameters.ts';
import type { CosechaFunctions, Resources } from './functions.ts';

export type Wiring = ReturnType<typeof connectFunctions>;

/** Everything that invokes the functions or reads what they write: machine, rules, API, stream, alarms, dashboard. */
export const connectFunctions = (stack: Stack, resources: Resources, functions: CosechaFunctions) => {
  const { config, dataKey, queue } = resources;
  const { machine } = new ExtractionMachine(stack, 'ExtractionMachine', {
    config,
    dataKey,
    startTask: functions.startTask.function,
    reconcile: functions.reconcileExtraction.function,
  });
  new SafetyNet(stack, 'SafetyNet', { config, queue, sweep: functions.sweepExtractions, machine });
  const api = new ExtractionApi(stack, 'ExtractionApi', {
    config,
    dataKey,
    requestExtraction: functions.requestExtraction.function,
    getExtraction: functions.getExtraction.function,
    receiveWebhook: functions.receiveWebhook.function,
    manageConsents: functions.manageConsents.function,
  });
  const stream = publishStream(stack, resources);
  const watched = { api, machine, fanOut: stream.fanOut };
  return { ...watched, ...stream, ...monitor(stack, resources, functions, watched) };
};

/** Publishes what readers of the stream need in the Parameter Store, and on a bus where the settings ask for one. */
const publishStream = (stack: Stack, { config, dataKey, storage }: Resources) => {
  const streamArn = storage.extractions.tableStreamArn ?? '';
  const names = streamParameters(config.stage);
  const publish = (id: string, parameterName: string, stringValue: string) =>
    new StringParameter(stack, id, { parameterName, stringValue });
  publish('StreamArnParameter', names.streamArn, streamArn);
  publish('DataKeyArnParameter', names.dataKeyArn, dataKey.key.keyArn);
  publish('ResultsBucketNameParameter', names.resultsBucketName, storage.results.bucketName);
  const fanOut = config.fanOutToEventBus
    ? new EventFanOut(stack, 'EventFanOut', { config, dataKey, streamArn })
    : undefined;
  return { streamArn, fanOut };
};

type Watched = Readonly<{
  api: ExtractionApi;
  machine: ExtractionMachine['machine'];
  fanOut: EventFanOut | undefined;
}>;

const monitor = (
  stack: Stack,
  { config, queue }: Resources,
  functions: CosechaFunctions,
  watched: Watched,
) => {
  const metrics = metricsOf({
    config,
    api: watched.api.api,
    machine: watched.machine,
    reconcileQueue: queue.queue,
    deadLetters: queue.deadLetters,
    fanOutDeadLetters: watched.fanOut?.deadLetters,
    startTask: functions.startTask.function,
    receiveWebhook: functions.receiveWebhook.function,
  });
  const alarms = new Alarms(stack, 'Alarms', { config, metrics }).all;
  const dashboard = new CosechaDashboard(stack, 'Dashboard', { config, metrics, alarms });
  return { alarms, dashboard };
};
