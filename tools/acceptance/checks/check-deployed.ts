import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { FunctionConfiguration } from '@aws-sdk/client-lambda';
import { audit } from '../../cli/audit/audit.ts';
import { auditSources } from '../../cli/audit/audit-sources-from-aws.ts';
import { checksOf } from '../../cli/doctor/checks.ts';
import { runCheck as runDoctorCheck } from '../../cli/doctor/finding.ts';
import { type Check, expectNone, passed } from './check.ts';
import { type DeployedFunction, describeFunction } from './stack-parts.ts';

/** Alarms are checked by checks of their own, as the checks before raise some. */
const notOfDoctor = ['alarms'];

export const doctorPasses: Check = {
  id: 'doctor',
  title: 'Every check of `cosecha doctor` passes',
  turn: 'last',
  seconds: () => 120,
  run: async ({ deployment, now, waitFor }) => {
    const checks = checksOf(deployment, { provider: true }, now()).filter(
      ({ id }) => !notOfDoctor.includes(id),
    );
    const problems: string[] = [];
    for (const check of checks) {
      waitFor(`doctor's check ${check.id}`);
      const finding = await runDoctorCheck(check);
      if (finding.result === 'failed') problems.push(`${finding.message}. ${finding.remedy}`);
    }
    expectNone(problems);
    return passed(`${checks.length} checks`);
  },
};

export const auditPasses: Check = {
  id: 'audit',
  title: 'Every rule of `cosecha audit` holds for all that the run requested',
  turn: 'last',
  seconds: () => 180,
  run: async ({ deployment, startedAt, now, waitFor }) => {
    const options = { since: startedAt, now: now(), seed: '', results: true } as const;
    const { requests, rules } = await audit(auditSources(deployment), options, waitFor);
    expectNone(
      rules.flatMap(({ id, findings, notChecked }) => [
        ...(notChecked === undefined ? [] : [`${id} was not checked: ${notChecked}`]),
        ...findings.map(({ extractionId, what }) => `${id}: ${extractionId}: ${what}`),
      ]),
      `See what happened to one of them: cosecha --stage ${deployment.stage} explain <extractionId>.`,
    );
    return passed(`${rules.length} rules, ${requests} requests`);
  },
};

/** The metrics that an alarm watches, sorted. */
export const metricsOf = ({ Namespace, MetricName, Metrics = [] }: MetricAlarm): string => {
  const several = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
  const all = MetricName === undefined ? several : [{ Namespace, MetricName }];
  const names = all.map((metric) => `${metric.Namespace} ${metric.MetricName}`);
  return names.toSorted().join(', ') || 'no metric';
};

const alarmsOf = (alarms: readonly MetricAlarm[]) =>
  new Map(alarms.map((alarm) => [alarm.AlarmName, metricsOf(alarm)]));

const functionsOf = (functions: readonly DeployedFunction[]) =>
  new Map(functions.map((one) => [one.name, `${one.memoryMB} MB and a timeout of ${one.timeoutSeconds} s`]));

/** A sentence for each part that is missing, or not as in the template. */
export const differences = (
  kind: string,
  expected: ReturnType<typeof alarmsOf>,
  deployed: ReturnType<typeof alarmsOf>,
): readonly string[] =>
  [...expected].flatMap(([name, then]) => {
    const now = deployed.get(name);
    if (now === undefined) return [`The ${kind} ${name} is missing.`];
    return now === then ? [] : [`The ${kind} ${name} has ${now} instead of ${then}.`];
  });

type Template = {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: unknown }>>;
};

export const asInTemplate: Check = {
  id: 'as-in-template',
  title: 'Functions have the memory and timeout, and alarms the metrics, of the template',
  run: async ({ client, deployment, stack }) => {
    const { TemplateBody = '' } = await new CloudFormationClient(client).send(
      new GetTemplateCommand({ StackName: deployment.stackName, TemplateStage: 'Original' }),
    );
    const { Resources } = JSON.parse(TemplateBody) as Template;
    // The properties have the names that the services themselves use.
    const ofType = <Described>(type: string) =>
      Object.values(Resources)
        .filter(({ Type }) => Type === type)
        .map(({ Properties }) => Properties as Described);
    const alarms = alarmsOf(ofType<MetricAlarm>('AWS::CloudWatch::Alarm'));
    const functions = ofType<FunctionConfiguration>('AWS::Lambda::Function').map(describeFunction);
    const { MetricAlarms = [] } = await new CloudWatchClient(client).send(
      new DescribeAlarmsCommand({ AlarmNames: [...alarms.keys()].flatMap((name) => name ?? []) }),
    );
    expectNone(
      [
        ...differences('function', functionsOf(functions), functionsOf(await stack.functions())),
        ...differences('alarm', alarms, alarmsOf(MetricAlarms)),
      ],
      'Deploy the stack again, or undo the change.',
    );
    return passed(`${functions.length} functions and ${alarms.size} alarms`);
  },
};
