import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SFNClient } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import { isRule, parseTriggers } from '../../../lib/aws/trigger.ts';
import type { Deployment } from '../aws/deployment.ts';
import { logsClient } from '../aws/logs.ts';
import { readDeliveries } from '../aws/read-deliveries.ts';
import { readExecution } from '../aws/read-execution.ts';
import { readLogLines } from '../aws/read-log-lines.ts';
import { readMachineSettings } from '../aws/read-machine-settings.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { readRule } from '../aws/read-rule.ts';
import { breakersOf, extractionsOf, readHolds, readPlace, tasksOf } from '../aws/stores.ts';
import type { StorySources, Sweep } from './sources.ts';

/** Log groups of services, such as the access log. Their lines have no fields of the functions' logger. */
const vended = '/aws/vendedlogs/';

/** The item of `Tasks`. The callback token stays here. */
const readTask = async (deployment: Deployment, now: () => Date, taskId: string) => {
  const item = await tasksOf(deployment, now).get(taskId);
  if (item === undefined) return undefined;
  const { callbackToken: _callbackToken, ...facts } = item;
  return facts;
};

/** The sweep's rule is the trigger of that name, as the dispatcher's has a schedule, too. */
const readSweep = async ({ client, output, sweepEveryMinutes }: Deployment): Promise<Sweep> => {
  const its = parseTriggers(output('Triggers')).filter(isRule);
  const { rule = '' } = its.find(({ name }) => name === 'sweep') ?? {};
  const found = await readRule(new EventBridgeClient(client), rule);
  return { enabled: found?.enabled === true, everyMinutes: sweepEveryMinutes() };
};

/** The sources of a deployment, read with the operator's credentials. Nothing is written. */
export const storySources = (deployment: Deployment, now: () => Date): StorySources => {
  const { client, output, resources } = deployment;
  const machine = new SFNClient(client);
  const extractions = extractionsOf(deployment);
  const breakers = breakersOf(deployment);
  return {
    settings: async () => {
      const [{ timings }, machineSettings] = await Promise.all([
        readReconcileSettings(deployment),
        readMachineSettings(machine, output('StateMachineArn')),
      ]);
      return { timings, ...machineSettings };
    },
    record: extractions.get,
    task: (taskId) => readTask(deployment, now, taskId),
    execution: async (id) => readExecution(machine, executionArn(output('StateMachineArn'), id)),
    logs: async (ids, within) => {
      const groups = (await resources('AWS::Logs::LogGroup')).filter((name) => !name.startsWith(vended));
      return readLogLines(logsClient(client), groups, ids, within);
    },
    deliveries: async ({ from, to }) => {
      const { items, complete } = await readDeliveries(deployment, new Date(from));
      return { items: items.filter(({ at }) => at <= to), complete };
    },
    holds: () => readHolds(breakers, now()),
    sweep: () => readSweep(deployment),
    place: (extractionId) => readPlace(deployment, extractionId),
    line: () => readStartRate(deployment, now()),
  };
};
