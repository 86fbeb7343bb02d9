import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { ExtractionConsumer } from '../../../infra/constructs/stream/extraction-consumer.ts';
import { Cosecha, type CosechaProps } from '../../../infra/cosecha.ts';
import { type FunctionCode, functionNames } from '../../../infra/lambda/contracts.ts';
import { readConfig } from '../../../infra/settings/config.ts';
import { required } from './synth.ts';

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-embedded-'));
process.once('exit', () => rmSync(workspace, { recursive: true }));

/** An app of another team, which bundles nothing. */
export const newApp = (context: Readonly<Record<string, string>> = {}): App =>
  new App({
    context: { 'aws:cdk:bundling-stacks': [], ...context },
    outdir: mkdtempSync(join(workspace, 'app-')),
  });

export const newStack = (): Stack => new Stack(newApp(), 'Banking');

/** An empty directory for each function, as no bundle is built for a unit test. */
const code = Object.fromEntries(
  functionNames.map((name) => [name, mkdtempSync(join(workspace, `${name}-`))]),
) as FunctionCode;

export const embed = (stack: Construct, id: string, props: Partial<CosechaProps> = {}): Cosecha => {
  const { dataKey, alarmTopic, permissionsBoundary, network, ...given } = { ...required, ...props };
  const topic = alarmTopic && { alarmTopicArn: alarmTopic.topicArn };
  const built = { config: readConfig({ ...given, ...topic }), code };
  return new Cosecha(stack, id, { ...required, ...props, built });
};

/** Two deployments in one stack, beside a caller, a reader and a consumer of one of them. */
export const twoInOneStack = () => {
  const stack = newStack();
  const bank = embed(stack, 'Bank');
  const trial = embed(stack, 'Trial', { stage: 'trial', publishEvents: true });
  const caller = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
  bank.grantRequestExtractions(caller);
  const reader = new Role(stack, 'Reader', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
  bank.grantReadStream(reader);
  bank.grantReadResults(reader);
  const handler = new LambdaFunction(stack, 'Handler', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {};'),
  });
  new ExtractionConsumer(stack, 'Consumer', { cosecha: bank, handler });
  return { bank, trial, template: Template.fromStack(stack) };
};

/** A deployment that uses a key, a topic, a boundary and a VPC of its account. */
export const withWhatTheAccountHas = () => {
  const stack = newStack();
  const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['a', 'b'],
    privateSubnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  });
  const bank = embed(stack, 'Bank', {
    dataKey: new Key(stack, 'OwnKey'),
    alarmTopic: new Topic(stack, 'OnCall'),
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', 'team-boundary'),
    network: { vpc },
  });
  return { bank, template: Template.fromStack(stack) };
};
