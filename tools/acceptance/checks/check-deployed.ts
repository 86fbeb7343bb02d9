import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import * as v from 'valibot';
import { checksOf } from '../../cli/doctor/checks.ts';
import { runCheck as runDoctorCheck } from '../../cli/doctor/finding.ts';
import { type Check, passed, Unmet } from './check.ts';
import type { DeployedFunction } from './stack-parts.ts';

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
    if (problems.length > 0) throw new Unmet(problems.join(' '));
    return passed(`${checks.length} checks`);
  },
};

const functionShape = v.object({
  MemorySize: v.optional(v.number(), 128),
  Timeout: v.optional(v.number(), 3),
  Environment: v.object({ Variables: v.object({ POWERTOOLS_SERVICE_NAME: v.string() }) }),
});

const metricShape = v.object({ Namespace: v.string(), MetricName: v.string() });
const alarmShape = v.object({
  AlarmName: v.string(),
  Namespace: v.optional(v.string()),
  MetricName: v.optional(v.string()),
  Metrics: v.optional(v.array(v.object({ MetricStat: v.optional(v.object({ Metric: metricShape })) }))),
});

const templateShape = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
});

type AlarmShape = v.InferOutput<typeof alarmShape>;

/** The metrics that an alarm watches, as `Namespace MetricName`, sorted. */
const metricsOf = ({ Namespace, MetricName, Metrics = [] }: AlarmShape | MetricAlarm): string => {
  const single = MetricName === undefined ? [] : [`${Namespace} ${MetricName}`];
  const several = (
    Metrics as readonly { MetricStat?: { Metric?: { Namespace?: string; MetricName?: string } } }[]
  )
    .flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
    .map((metric) => `${metric.Namespace} ${metric.MetricName}`);
  return [...single, ...several].toSorted().join(', ');
};

type Expected = Pick<DeployedFunction, 'name' | 'memoryMB' | 'timeoutSeconds'>;

/** A sentence for each function that has other memory or another timeout than the template. */
export const functionDifferences = (
  expected: readonly Expected[],
  deployed: readonly Expected[],
): readonly string[] =>
  expected.flatMap(({ name, memoryMB, timeoutSeconds }) => {
    const found = deployed.find((one) => one.name === name);
    if (found === undefined) return [`The function ${name} is missing.`];
    const memory = found.memoryMB === memoryMB ? [] : [`${found.memoryMB} MB instead of ${memoryMB} MB`];
    const timeout =
      found.timeoutSeconds === timeoutSeconds
        ? []
        : [`a timeout of ${found.timeoutSeconds} s instead of ${timeoutSeconds} s`];
    const differences = [...memory, ...timeout];
    return differences.length === 0 ? [] : [`The function ${name} has ${differences.join(' and ')}.`];
  });

/** A sentence for each alarm that is missing or watches other metrics than in the template. */
export const alarmDifferences = (
  expected: readonly AlarmShape[],
  deployed: readonly MetricAlarm[],
): readonly string[] =>
  expected.flatMap((alarm) => {
    const found = deployed.find(({ AlarmName }) => AlarmName === alarm.AlarmName);
    if (found === undefined) return [`The alarm ${alarm.AlarmName} is missing.`];
    const [now, then] = [metricsOf(found), metricsOf(alarm)];
    return now === then
      ? []
      : [`The alarm ${alarm.AlarmName} watches ${now || 'no metric'} instead of ${then}.`];
  });

export const asInTemplate: Check = {
  id: 'as-in-template',
  title: 'Functions have the memory and timeout, and alarms the metrics, of the template',
  run: async ({ client, deployment, stack }) => {
    const { TemplateBody = '' } = await new CloudFormationClient(client).send(
      new GetTemplateCommand({ StackName: deployment.stackName, TemplateStage: 'Original' }),
    );
    const { Resources } = v.parse(templateShape, JSON.parse(TemplateBody));
    const ofType = <Shape extends v.GenericSchema>(type: string, shape: Shape) =>
      Object.values(Resources)
        .filter(({ Type }) => Type === type)
        .map(({ Properties }) => v.parse(shape, Properties));
    const functions = ofType('AWS::Lambda::Function', functionShape).map(
      ({ MemorySize, Timeout, Environment }) => ({
        name: Environment.Variables.POWERTOOLS_SERVICE_NAME,
        memoryMB: MemorySize,
        timeoutSeconds: Timeout,
      }),
    );
    const alarms = ofType('AWS::CloudWatch::Alarm', alarmShape);
    const { MetricAlarms = [] } = await new CloudWatchClient(client).send(
      new DescribeAlarmsCommand({ AlarmNames: alarms.map(({ AlarmName }) => AlarmName) }),
    );
    const differences = [
      ...functionDifferences(functions, await stack.functions()),
      ...alarmDifferences(alarms, MetricAlarms),
    ];
    if (differences.length > 0) {
      throw new Unmet([...differences, 'Deploy the stack again, or undo the change.'].join(' '));
    }
    return passed(`${functions.length} functions and ${alarms.length} alarms`);
  },
};
