import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { FunctionConfiguration } from '@aws-sdk/client-lambda';
import type { MetricName } from '../../../lib/observability/metric-names.ts';
import { type AuditReport, audit } from '../../cli/audit/audit.ts';
import { auditSources } from '../../cli/audit/audit-sources-from-aws.ts';
import { checksOf } from '../../cli/doctor/checks.ts';
import { runCheck as runDoctorCheck } from '../../cli/doctor/finding.ts';
import { type Check, expectNone, passed } from './check.ts';
import { readLogLines } from './lambda-report-lines.ts';
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
      const finding = await runDoctorCheck(check, deployment.command);
      if (finding.result === 'failed') problems.push(`${finding.message}. ${finding.remedy}`);
    }
    expectNone(problems);
    return passed(`${checks.length} checks`);
  },
};

const notRemoved: MetricName = 'RequestDataNotRemoved';

/** What the audit found, or could not check. A removal may fail, and its item is then left to expire: `logged` has a line of each. */
export const problemsOf = (rules: AuditReport['rules'], logged: readonly string[]): readonly string[] => {
  const hasFailed = (id: string) => logged.some((line) => line.includes(notRemoved) && line.includes(id));
  return rules.flatMap(({ id, findings, notChecked, left = [] }) => [
    ...(notChecked === undefined || (left.length > 0 && left.every(hasFailed))
      ? []
      : [`${id} was not checked: ${notChecked}`]),
    ...findings.map(({ extractionId, what }) => `${id}: ${extractionId}: ${what}`),
  ]);
};

export const auditPasses: Check = {
  id: 'audit',
  title: 'Every rule of `cosecha audit` holds for all that the run requested',
  turn: 'last',
  seconds: () => 180,
  run: async ({ client, deployment, stack, startedAt, now, waitFor }) => {
    const options = { since: startedAt, clock: now, seed: '', results: true } as const;
    const { requests, rules } = await audit(auditSources(deployment), options, waitFor);
    const functions = rules.some(({ left }) => left) ? await stack.functions() : [];
    const logs = functions.map(({ logGroup }) => readLogLines(client, logGroup, startedAt));
    expectNone(
      problemsOf(rules, (await Promise.all(logs)).flat()),
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
