import * as v from 'valibot';
import type { Resource, Template } from '../template.ts';
import type { Table } from '../units/capacity.ts';
import { tablesOf } from '../units/tables.ts';
import type { Retrier } from './bill/expected-polls.ts';

/** The facts of the template that the bill depends on. */
export type Facts = {
  /** The functions, by their name in logs. */
  readonly memoryMB: Readonly<Record<string, number>>;
  /** The tables, by the output that names each. */
  readonly tables: Readonly<Record<string, Table>>;
  readonly accessLogFormat: string;
  /** Keys of the routes with signed requests, whose callers are in the access log. */
  readonly signedRoutes: readonly string[];
  /** Requests a second that the route of the webhook lets through. */
  readonly webhookRateLimit: number;
  readonly machine: {
    readonly webhookWaitSeconds: number;
    readonly poll: Retrier;
  };
};

const text = v.string();

const functionShape = v.object({
  MemorySize: v.optional(v.number(), 128),
  Architectures: v.tuple([v.literal('arm64')]),
  Environment: v.object({ Variables: v.object({ POWERTOOLS_SERVICE_NAME: text }) }),
  LoggingConfig: v.object({ LogFormat: v.optional(v.literal('Text')) }),
});

const logGroupShape = v.object({ LogGroupClass: v.optional(v.literal('STANDARD')) });

/** Requires a bucket key. Without it, each object would be one more KMS request. */
const bucketShape = v.object({
  BucketEncryption: v.object({
    ServerSideEncryptionConfiguration: v.tuple([v.object({ BucketKeyEnabled: v.literal(true) })]),
  }),
});

const routeShape = v.object({ RouteKey: text, AuthorizationType: v.optional(text, 'NONE') });
const stageShape = v.object({
  AccessLogSettings: v.object({ Format: text }),
  RouteSettings: v.record(text, v.object({ ThrottlingRateLimit: v.number() })),
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
          MaxDelaySeconds: v.exactOptional(v.number()),
          MaxAttempts: v.number(),
          JitterStrategy: v.picklist(['FULL', 'NONE']),
        }),
      ]),
    }),
  }),
});

/** A string with CloudFormation references, which are replaced by their names. */
const flatten = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flatten).join('');
  const [[, argument] = ['', '']] = Object.entries(value as object);
  return flatten(argument);
};

const onlyOne = <Value>(values: readonly Value[], what: string): Value => {
  const [first] = values;
  if (first === undefined || values.length !== 1) throw new Error(`${values.length} of ${what}, not one.`);
  return first;
};

/** Reads the facts. Throws if the template has something without a price. */
export const factsOf = (template: Template): Facts => {
  const ofType = (type: string): readonly Resource[] =>
    Object.values(template.Resources).filter(({ Type }) => Type === type);
  const all = <Shape extends v.GenericSchema>(type: string, shape: Shape) =>
    ofType(type).map(({ Properties }) => v.parse(shape, Properties));
  const only = <Shape extends v.GenericSchema>(type: string, shape: Shape) => onlyOne(all(type, shape), type);

  only('AWS::ApiGatewayV2::Api', v.object({ ProtocolType: v.literal('HTTP') }));
  only('AWS::S3::Bucket', bucketShape);
  all('AWS::Logs::LogGroup', logGroupShape);
  const { DefinitionString } = only('AWS::StepFunctions::StateMachine', machineShape);
  const { States } = v.parse(definitionShape, JSON.parse(flatten(DefinitionString)));
  const stage = only('AWS::ApiGatewayV2::Stage', stageShape);
  const routes = all('AWS::ApiGatewayV2::Route', routeShape);
  const keysOf = (authorization: string): readonly string[] =>
    routes
      .filter(({ AuthorizationType }) => AuthorizationType === authorization)
      .map(({ RouteKey }) => RouteKey);
  const webhook = onlyOne(keysOf('NONE'), 'open routes');
  return {
    memoryMB: Object.fromEntries(
      all('AWS::Lambda::Function', functionShape).map(({ MemorySize, Environment }) => [
        Environment.Variables.POWERTOOLS_SERVICE_NAME,
        MemorySize,
      ]),
    ),
    tables: tablesOf(template),
    accessLogFormat: stage.AccessLogSettings.Format,
    signedRoutes: keysOf('AWS_IAM'),
    webhookRateLimit: onlyOne(
      [stage.RouteSettings[webhook]?.ThrottlingRateLimit].filter((rate) => rate !== undefined),
      'throttles of the webhook',
    ),
    machine: {
      webhookWaitSeconds: States.StartTask.TimeoutSeconds,
      poll: States.Reconcile.Retry[0],
    },
  };
};
