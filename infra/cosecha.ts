import { CfnRule, Fn, Stack, Token } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable, type IManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import { adaptToEmulator } from './adapt-to-emulator.ts';
import { viaService } from './constructs/allow.ts';
import type { Network } from './constructs/network-props.ts';
import { isLocal } from './constructs/removal-policy.ts';
import { streamReading } from './constructs/stream/extraction-consumer.ts';
import { type Connected, connectFunctions } from './lambda/connect-functions.ts';
import type { FunctionCode } from './lambda/contracts.ts';
import { createFunctions } from './lambda/create-functions.ts';
import { prebuiltFunctions } from './lambda/prebuilt-functions.ts';
import { addOutputs } from './outputs.ts';
import { acknowledgeNagRules } from './policies/acknowledge-nag-rules.ts';
import { prefixOf } from './prefix-of.ts';
import { findExampleProvider, refuseLocalOnAws } from './refuse-local-on-aws.ts';
import { refuseWrongEnvironment } from './refuse-wrong-environment.ts';
import { createResources } from './resources.ts';
import { type Config, readConfig } from './settings/config.ts';
import { ConfigError } from './settings/config-error.ts';
import type { CosechaSettings } from './settings/settings-type.ts';

export type CosechaProps = CosechaSettings & {
  /**
   * Encrypts tables, stream, results and logs. Its policy must let CloudWatch Logs use it, which this construct adds to a
   * key of the same app (docs/embedding.md). Default: a new key.
   */
  readonly dataKey?: IKey | undefined;
  /** Every alarm notifies this topic. In place of `alarmTopicArn`. */
  readonly alarmTopic?: ITopic | undefined;
  /** The boundary of every role that this construct creates. */
  readonly permissionsBoundary?: IManagedPolicy | undefined;
  /** Default: outside of any VPC. */
  readonly network?: Network | undefined;
  /** @internal For this repository, which validates the settings and bundles the functions itself. */
  readonly built?: Built | undefined;
};

/** The validated settings, and what the functions run. */
type Built = { readonly config: Config; readonly code: FunctionCode };

/**
 * A deployment of Cosecha. Its secrets, alarms, parameters and state machine are named after its stage,
 * `Cosecha-<stage>-…`, so a stage exists once in an account and region. Throws ConfigError for settings that are invalid
 * or contradict each other.
 *
 * @example
 * import { Cosecha } from '@cosecha/cosecha/cdk';
 * import { App, Stack } from 'aws-cdk-lib';
 * import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
 *
 * const stack = new Stack(new App(), 'Banking');
 * const bank = new Cosecha(stack, 'Bank', { stage: 'prod', providerBaseUrl: 'https://provider.example' });
 * bank.grantRequestExtractions(new Role(stack, 'Orders', { assumedBy: new AccountRootPrincipal() }));
 */
export class Cosecha extends Construct {
  /** One record for each extraction. Read it through the API or the stream (docs/stream.md). */
  readonly table: Table;
  readonly streamArn: string;
  /** The bus of `publishEvents`. */
  readonly eventBus: EventBus | undefined;
  readonly resultsBucket: Bucket;
  /** Encrypts the table, its stream, the results and the logs. */
  readonly dataKey: IKey;
  /** The base address of the API, without a slash at the end. */
  readonly apiUrl: string;
  /** Register it at the provider. */
  readonly webhookUrl: string;
  readonly alarms: readonly AlarmBase[];
  private readonly api: Connected['api'];
  private readonly stage: string;
  private readonly callersMayErase: boolean;

  constructor(scope: Construct, id: string, props: CosechaProps) {
    super(scope, id);
    refuseNestedStack(Stack.of(this));
    // Without props, as JavaScript allows, the settings that are required are named.
    const { config, code } = props?.built ?? build(props);
    refuseLocalOnAws(config, process.env);
    const { account, region } = Stack.of(this);
    refuseForeignTopic(props.alarmTopic, region);
    this.refuseExampleWhenDeployed(config);
    refuseWrongEnvironment(config, process.env, { account: known(account), region: known(region) });
    this.stage = config.stage;
    this.callersMayErase = config.callersMayErase;
    this.refuseSecondOfStage();
    if (props.permissionsBoundary) PermissionsBoundary.of(this).apply(props.permissionsBoundary);
    const resources = createResources(this, config, props.dataKey);
    const functions = createFunctions(this, resources, { code, network: props.network });
    const connected = connectFunctions(this, resources, functions);
    if (isLocal(config)) adaptToEmulator(resources, functions, connected);
    addOutputs(this, resources, functions, connected);
    acknowledgeNagRules(this);
    this.table = resources.storage.extractions;
    this.streamArn = resources.storage.streamArn;
    this.eventBus = resources.outcomeBus?.bus;
    this.resultsBucket = resources.storage.results;
    this.dataKey = resources.dataKey.key;
    this.api = connected.api;
    this.apiUrl = connected.api.url;
    this.webhookUrl = connected.api.webhookUrl;
    this.alarms = connected.alarms;
  }

  /** CloudFormation checks a rule before it makes anything, so that such an app can be synthesized and tested. */
  private refuseExampleWhenDeployed(config: Config): void {
    const assertDescription = findExampleProvider(config);
    if (assertDescription === undefined) return;
    const assert = Fn.conditionEquals(config.providerBaseUrl, 'the address of a provider');
    new CfnRule(this, 'NoExampleProvider', { assertions: [{ assert, assertDescription }] });
  }

  private refuseSecondOfStage(): void {
    const isOther = (other: IConstruct): other is Cosecha => other instanceof Cosecha && other !== this;
    const others = Stack.of(this).node.findAll().filter(isOther);
    const namesake = others.find((other) => prefixOf(other) === prefixOf(this));
    if (namesake !== undefined) {
      throw new ConfigError(
        `${this.node.path} and ${namesake.node.path} would have outputs of the same names, as only letters and digits of an id count: give one another id.`,
      );
    }
    const twin = others.find(({ stage }) => stage === this.stage);
    if (twin === undefined) return;
    throw new ConfigError(
      `The stage "${this.stage}" is already in this stack, as ${twin.node.path}: its secrets, alarms and parameters would have the same names. Give each deployment a stage of its own.`,
    );
  }

  /** Permission to request extractions, and to read those that the same role or user requested. */
  grantRequestExtractions(grantee: IGrantable): Grant {
    return this.grantRoutes(grantee, ['POST/extractions', 'GET/extractions', 'GET/extractions/*']);
  }

  /** Permission to act for any user on the routes of consents. */
  grantManageConsents(grantee: IGrantable): Grant {
    return this.grantRoutes(grantee, [
      'POST/consent-sessions',
      'GET/consents',
      'GET/consents/*',
      'POST/consents/*',
    ]);
  }

  /** Permission to erase what the same role or user requested. Throws ConfigError without the setting `callersMayErase`. */
  grantErase(grantee: IGrantable): Grant {
    if (!this.callersMayErase) throw new ConfigError('grantErase needs the setting callersMayErase.');
    return this.grantRoutes(grantee, ['POST/erasures', 'GET/erasures/*']);
  }

  /** Permission to read the stream. `ExtractionConsumer` grants it by itself. */
  grantReadStream(grantee: IGrantable): Grant {
    const conditions = viaService('dynamodb');
    return this.grant(grantee, streamReading, [this.streamArn]).combine(
      this.grant(grantee, ['kms:Decrypt', 'kms:DescribeKey'], [this.dataKey.keyArn], conditions),
    );
  }

  /** Permission to read the results of every extraction, whose place is in the stream. */
  grantReadResults(grantee: IGrantable): Grant {
    return this.grant(grantee, ['s3:GetObject'], [this.resultsBucket.arnForObjects('*')]).combine(
      this.grant(grantee, ['kms:Decrypt'], [this.dataKey.keyArn], viaService('s3')),
    );
  }

  private grantRoutes(grantee: IGrantable, routes: readonly string[]): Grant {
    const arn = (route: string): string =>
      Stack.of(this).formatArn({
        service: 'execute-api',
        resource: this.api.api.apiId,
        resourceName: `$default/${route}`,
      });
    return this.grant(grantee, ['execute-api:Invoke'], routes.map(arn));
  }

  private grant(grantee: IGrantable, actions: string[], resourceArns: string[], conditions = {}): Grant {
    return Grant.addToPrincipal({ grantee, actions, resourceArns, conditions });
  }
}

const build = (props: Partial<CosechaProps> = {}): Built => {
  const { dataKey, permissionsBoundary, network, alarmTopic, ...settings } = props;
  if (alarmTopic !== undefined && settings.alarmTopicArn !== undefined) {
    throw new ConfigError('alarmTopic and alarmTopicArn both name a topic: set one of them.');
  }
  return {
    config: readConfig(alarmTopic ? { ...settings, alarmTopicArn: alarmTopic.topicArn } : settings),
    code: prebuiltFunctions(),
  };
};

/** What is named after the stack would be named after a token, and the command line finds a deployment by the name of its stack. */
const refuseNestedStack = (stack: Stack): void => {
  if (stack.nestedStackParent === undefined) return;
  throw new ConfigError(
    `${stack.node.path} is a NestedStack, in which Cosecha cannot be: give it a Stack of its own.`,
  );
};

/** What is known when the app is synthesized. A stack that is bound to no environment has tokens. */
const known = (value: string): string | undefined => (Token.isUnresolved(value) ? undefined : value);

/** An alarm takes a topic of its own region only, and the ARN of a topic of the same app does not show its region. */
const refuseForeignTopic = (topic: ITopic | undefined, region: string): void => {
  const its = topic && known(topic.env.region);
  if (its === undefined || known(region) === undefined || its === region) return;
  throw new ConfigError(
    `alarmTopic is in ${its}, but the stack goes to ${region}: it must be in the same region.`,
  );
};
