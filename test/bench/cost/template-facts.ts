import type { Template } from 'aws-cdk-lib/assertions';
import * as v from 'valibot';
import { parseTimings } from '../../../lib/extraction/deadlines.ts';
import { flatten } from '../../unit/infra/synth.ts';
import type { Retrier } from './bill/expected-polls.ts';

/** For how many days each is kept. */
export type Retention = Readonly<Record<'recordDays' | 'taskDays' | 'resultsDays' | 'logDays', number>>;

/** The facts of the template that the bill depends on. */
export type Facts = {
  /** The functions, by their name in logs. */
  readonly memoryMB: Readonly<Record<string, number>>;
  readonly accessLogFormat: string;
  /** Keys of the routes with signed requests, whose callers are in the access log. */
  readonly signedRoutes: readonly string[];
  /** Requests a second that the route of the webhook lets through. */
  readonly webhookRateLimit: number;
  readonly retention: Retention;
  readonly machine: { readonly webhookWaitSeconds: number; readonly poll: Retrier };
};

const text = v.string();

const functionShape = v.object({
  MemorySize: v.optional(v.number(), 128),
  Architectures: v.tuple([v.literal('arm64')]),
  Environment: v.object({ Variables: v.object({ POWERTOOLS_SERVICE_NAME: text }) }),
  LoggingConfig: v.object({ LogFormat: v.optional(v.literal('Text')) }),
});

/** Requires a bucket key. Without it, each object would be one more KMS request. */
const bucketShape = v.object({
  BucketEncryption: v.object({
    ServerSideEncryptionConfiguration: v.tuple([v.object({ BucketKeyEnabled: v.literal(true) })]),
  }),
  LifecycleConfiguration: v.object({ Rules: v.tuple([v.object({ ExpirationInDays: v.number() })]) }),
});

const stageShape = v.object({
  AccessLogSettings: v.object({ Format: text }),
  RouteSettings: v.object({ 'POST /webhooks/provider': v.object({ ThrottlingRateLimit: v.number() }) }),
});

const machineShape = v.object({
  StateMachineType: v.literal('STANDARD'),
  DefinitionString: v.unknown(),
  LoggingConfiguration: v.object({ Level: v.literal('ERROR') }),
});

const definitionShape = v.object({
  States: v.object({
    StartTask: v.object({ TimeoutSeconds: v.number() }),
    Reconcile: v.object({
      Retry: v.tuple([
        v.object({
          IntervalSeconds: v.number(),
          BackoffRate: v.number(),
          MaxDelaySeconds: v.number(),
          MaxAttempts: v.number(),
          JitterStrategy: v.literal('FULL'),
        }),
      ]),
    }),
  }),
});

/** Reads the facts. Throws if the template has something without a price. */
export const factsOf = (template: Template): Facts => {
  const all = <Shape extends v.GenericSchema>(type: string, shape: Shape) =>
    Object.values(template.findResources(type)).map(({ Properties }) => v.parse(shape, Properties));
  const only = <Shape extends v.GenericSchema>(type: string, shape: Shape) => {
    const [first, ...others] = all(type, shape);
    if (first === undefined || others.length > 0) throw new Error(`There is not one ${type}.`);
    return first;
  };

  only('AWS::ApiGatewayV2::Api', v.object({ ProtocolType: v.literal('HTTP') }));
  all('AWS::DynamoDB::Table', v.object({ BillingMode: v.literal('PAY_PER_REQUEST') }));
  all('AWS::Logs::LogGroup', v.object({ LogGroupClass: v.optional(v.literal('STANDARD')) }));
  const { DefinitionString } = only('AWS::StepFunctions::StateMachine', machineShape);
  const { States } = v.parse(definitionShape, JSON.parse(flatten(DefinitionString)));
  const { AccessLogSettings, RouteSettings } = only('AWS::ApiGatewayV2::Stage', stageShape);
  const signed = template.findResources('AWS::ApiGatewayV2::Route', {
    Properties: { AuthorizationType: 'AWS_IAM' },
  });
  const memoryMB = all('AWS::Lambda::Function', functionShape).map(
    ({ MemorySize, Environment }) => [Environment.Variables.POWERTOOLS_SERVICE_NAME, MemorySize] as const,
  );
  const { LifecycleConfiguration } = only('AWS::S3::Bucket', bucketShape);
  const [{ RetentionInDays: logDays } = { RetentionInDays: 0 }] = all(
    'AWS::Logs::LogGroup',
    v.object({ RetentionInDays: v.number() }),
  );
  const variables = Object.values(template.findResources('AWS::Lambda::Function')).flatMap(
    ({ Properties }) => Properties.Environment.Variables.TIMINGS ?? [],
  );
  const timings = parseTimings(String(variables[0]));
  return {
    retention: {
      recordDays: timings.recordRetention / 86_400,
      // lib/aws/dynamo-task-store.ts
      taskDays: 30,
      resultsDays: LifecycleConfiguration.Rules[0].ExpirationInDays,
      logDays,
    },
    memoryMB: Object.fromEntries(memoryMB),
    accessLogFormat: AccessLogSettings.Format,
    signedRoutes: Object.values(signed).map(({ Properties }) => Properties.RouteKey),
    webhookRateLimit: RouteSettings['POST /webhooks/provider'].ThrottlingRateLimit,
    machine: { webhookWaitSeconds: States.StartTask.TimeoutSeconds, poll: States.Reconcile.Retry[0] },
  };
};
