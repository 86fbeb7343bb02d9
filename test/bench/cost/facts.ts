import * as v from 'valibot';
import type { Resource, Template } from '../template.ts';
import type { Table } from '../units/capacity.ts';
import { tablesOf } from '../units/tables.ts';
import type { Retrier } from './bill/expected-polls.ts';
import type { MachineLogLevel } from './bill/machine-log-bytes.ts';
import type { LogSettings } from './bill/platform-logs.ts';

export type LogClass = 'STANDARD' | 'INFREQUENT_ACCESS';

export type FunctionFacts = LogSettings & {
  readonly memoryMB: number;
  readonly architecture: 'arm64' | 'x86_64';
  readonly logClass: LogClass;
};

/** What the bill depends on and the template says. */
export type Facts = {
  /** By the name that each gives itself in its log. */
  readonly functions: Readonly<Record<string, FunctionFacts>>;
  /** By the output that names the table. */
  readonly tables: Readonly<Record<string, Table>>;
  /** Whether an object's encryption is a request to KMS, or the bucket's key spares that. */
  readonly isKeyAskedForEachObject: boolean;
  readonly accessLog: { readonly format: string; readonly logClass: LogClass };
  /** Keys of the routes whose callers sign, so that the access log names them. */
  readonly signedRoutes: readonly string[];
  readonly machine: {
    readonly logLevel: MachineLogLevel;
    readonly logClass: LogClass;
    readonly webhookWaitSeconds: number;
    readonly poll: Retrier;
  };
  readonly sweepsPerMonth: number;
  readonly secrets: number;
  readonly keys: number;
};

const text = v.string();
const reference = v.union([
  v.object({ Ref: text }),
  v.pipe(
    v.object({ 'Fn::GetAtt': v.tuple([text, text]) }),
    v.transform((it) => ({ Ref: it['Fn::GetAtt'][0] })),
  ),
]);

const functionShape = v.object({
  MemorySize: v.optional(v.number(), 128),
  Architectures: v.optional(v.tuple([v.picklist(['arm64', 'x86_64'])]), ['x86_64']),
  Environment: v.object({ Variables: v.object({ POWERTOOLS_SERVICE_NAME: text }) }),
  LoggingConfig: v.object({
    LogGroup: reference,
    LogFormat: v.optional(v.picklist(['Text', 'JSON']), 'Text'),
    SystemLogLevel: v.optional(v.picklist(['DEBUG', 'INFO', 'WARN']), 'INFO'),
  }),
});

const bucketShape = v.object({
  BucketEncryption: v.object({
    ServerSideEncryptionConfiguration: v.tuple([
      v.object({
        BucketKeyEnabled: v.optional(v.boolean(), false),
        ServerSideEncryptionByDefault: v.object({ SSEAlgorithm: text }),
      }),
    ]),
  }),
});

const routeShape = v.object({ RouteKey: text, AuthorizationType: v.optional(text, 'NONE') });
const stageShape = v.object({ AccessLogSettings: v.object({ DestinationArn: reference, Format: text }) });

const machineShape = v.object({
  StateMachineType: v.literal('STANDARD'),
  DefinitionString: v.unknown(),
  LoggingConfiguration: v.object({
    Level: v.picklist(['ALL', 'ERROR', 'FATAL', 'OFF']),
    Destinations: v.tuple([v.object({ CloudWatchLogsLogGroup: v.object({ LogGroupArn: reference }) })]),
  }),
});

const definitionShape = v.object({
  States: v.object({
    StartTask: v.object({ TimeoutSeconds: v.number() }),
    Reconcile: v.object({
      Retry: v.tuple([
        v.object({
          IntervalSeconds: v.number(),
          BackoffRate: v.number(),
          MaxDelaySeconds: v.exactOptional(v.number()),
          MaxAttempts: v.number(),
          JitterStrategy: v.picklist(['FULL', 'NONE']),
        }),
      ]),
    }),
  }),
});

const ruleShape = v.object({ ScheduleExpression: v.optional(text) });

/** A string that CloudFormation puts together: of what it fills in, the name alone. */
const flatten = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flatten).join('');
  const [[, argument] = ['', '']] = Object.entries(value as object);
  return flatten(argument);
};

const MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1_440 };
const MONTH_MINUTES = 30 * 1_440;

/** `rate(5 minutes)` */
const timesPerMonth = (schedule: string): number => {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  const minutes = MINUTES[unit];
  if (minutes === undefined) throw new Error(`Not a rate: ${schedule}`);
  return MONTH_MINUTES / (Number(count) * minutes);
};

const onlyOne = <Value>(values: readonly Value[], what: string): Value => {
  const [first] = values;
  if (first === undefined || values.length !== 1) throw new Error(`${values.length} of ${what}, not one.`);
  return first;
};

/** Reads them. Throws where the template has something in a way that cannot be priced here. */
export const factsOf = (template: Template): Facts => {
  const { Resources } = template;
  const ofType = (type: string): readonly Resource[] =>
    Object.values(Resources).filter(({ Type }) => Type === type);
  const only = <Shape extends v.GenericSchema>(type: string, shape: Shape): v.InferOutput<Shape> =>
    v.parse(shape, onlyOne(ofType(type), type).Properties);
  const logClassOf = ({ Ref }: { readonly Ref: string }): LogClass =>
    v.parse(
      v.optional(v.picklist(['STANDARD', 'INFREQUENT_ACCESS']), 'STANDARD'),
      Resources[Ref]?.Properties?.LogGroupClass,
    );

  const functionOf = (resource: Resource) => {
    const { MemorySize, Architectures, Environment, LoggingConfig } = v.parse(
      functionShape,
      resource.Properties,
    );
    const facts: FunctionFacts = {
      memoryMB: MemorySize,
      architecture: Architectures[0],
      format: LoggingConfig.LogFormat,
      systemLevel: LoggingConfig.SystemLogLevel,
      logClass: logClassOf(LoggingConfig.LogGroup),
    };
    return [Environment.Variables.POWERTOOLS_SERVICE_NAME, facts] as const;
  };

  onlyOne(
    ofType('AWS::ApiGatewayV2::Api').filter(({ Properties }) => Properties?.ProtocolType === 'HTTP'),
    'HTTP APIs',
  );
  const [encryption] = only('AWS::S3::Bucket', bucketShape).BucketEncryption
    .ServerSideEncryptionConfiguration;
  const access = only('AWS::ApiGatewayV2::Stage', stageShape).AccessLogSettings;
  const machine = only('AWS::StepFunctions::StateMachine', machineShape);
  const { States } = v.parse(definitionShape, JSON.parse(flatten(machine.DefinitionString)));
  const schedules = ofType('AWS::Events::Rule').flatMap(
    ({ Properties }) => v.parse(ruleShape, Properties).ScheduleExpression ?? [],
  );
  return {
    functions: Object.fromEntries(ofType('AWS::Lambda::Function').map(functionOf)),
    tables: tablesOf(template),
    isKeyAskedForEachObject:
      encryption.ServerSideEncryptionByDefault.SSEAlgorithm === 'aws:kms' && !encryption.BucketKeyEnabled,
    accessLog: { format: access.Format, logClass: logClassOf(access.DestinationArn) },
    signedRoutes: ofType('AWS::ApiGatewayV2::Route')
      .map(({ Properties }) => v.parse(routeShape, Properties))
      .filter(({ AuthorizationType }) => AuthorizationType === 'AWS_IAM')
      .map(({ RouteKey }) => RouteKey),
    machine: {
      logLevel: machine.LoggingConfiguration.Level,
      logClass: logClassOf(machine.LoggingConfiguration.Destinations[0].CloudWatchLogsLogGroup.LogGroupArn),
      webhookWaitSeconds: States.StartTask.TimeoutSeconds,
      poll: States.Reconcile.Retry[0],
    },
    sweepsPerMonth: timesPerMonth(onlyOne(schedules, 'schedules')),
    secrets: ofType('AWS::SecretsManager::Secret').length,
    keys: ofType('AWS::KMS::Key').length,
  };
};
