import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { functionNames } from '../../../../infra/lambda/function-names.ts';
import { factsOf } from '../../../bench/cost/template-facts.ts';
import { synthesize } from '../../infra/synth.ts';

const { template } = synthesize({ callersMayErase: 'true', publishEvents: 'true' });

/** The template with other properties in every resource of a type. */
const changed = (type: string, properties: object): Template => {
  const json = structuredClone(template.toJSON());
  for (const id of Object.keys(template.findResources(type)))
    Object.assign(json.Resources[id].Properties, properties);
  return Template.fromJSON(json);
};

test('the bill reads the facts from the template', () => {
  const { machine, signedRoutes, memoryMB, webhookRateLimit } = factsOf(template);
  expect(webhookRateLimit).toBe(100);
  expect(Object.keys(memoryMB).sort()).toEqual([...functionNames].sort());
  expect(machine).toMatchObject({ webhookWaitSeconds: 600, poll: { MaxDelaySeconds: 120 } });
  expect(signedRoutes).toContain('POST /extractions');
  expect(signedRoutes).not.toContain('POST /webhooks/provider');
  expect(factsOf(changed('AWS::Lambda::Function', { MemorySize: 256 })).memoryMB['start-task']).toBe(256);
});

const withoutKey = {
  ServerSideEncryptionConfiguration: [
    { ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' }, BucketKeyEnabled: false },
  ],
};

test.each([
  ['tables that are paid for by the hour', 'AWS::DynamoDB::Table', { BillingMode: 'PROVISIONED' }],
  ['another kind of machine', 'AWS::StepFunctions::StateMachine', { StateMachineType: 'EXPRESS' }],
  ['another kind of API', 'AWS::ApiGatewayV2::Api', { ProtocolType: 'WEBSOCKET' }],
  ['another architecture', 'AWS::Lambda::Function', { Architectures: ['x86_64'] }],
  ['another class of logs', 'AWS::Logs::LogGroup', { LogGroupClass: 'INFREQUENT_ACCESS' }],
  ['a bucket without a key', 'AWS::S3::Bucket', { BucketEncryption: withoutKey }],
])('the bill has no price for %s', (_, type, properties) => {
  expect(() => factsOf(changed(type, properties))).toThrow();
});
