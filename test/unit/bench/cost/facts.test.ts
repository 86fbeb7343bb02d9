import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../bench/cost/facts.ts';
import { synthesizeTemplate, type Template } from '../../../bench/template.ts';

const template = synthesizeTemplate();

/** The template with other properties in every resource of a type. */
const changed = (type: string, properties: object): Template => ({
  ...template,
  Resources: Object.fromEntries(
    Object.entries(template.Resources).map(([id, resource]) => [
      id,
      resource.Type === type
        ? { ...resource, Properties: { ...resource.Properties, ...properties } }
        : resource,
    ]),
  ),
});

describe('what the bill reads in the template', () => {
  const facts = factsOf(template);

  it('is every function, by its own name', () => {
    expect(Object.keys(facts.functions).sort()).toEqual([
      'get-extraction',
      'manage-consents',
      'receive-webhook',
      'reconcile-extraction',
      'request-extraction',
      'start-task',
      'sweep-extractions',
    ]);
  });

  it('is how the machine polls, and waits before', () => {
    expect(facts.machine.webhookWaitSeconds).toBe(600);
    expect(facts.machine.poll).toMatchObject({
      IntervalSeconds: 5,
      MaxDelaySeconds: 120,
      JitterStrategy: 'FULL',
    });
  });

  it('is which callers sign: all but the provider', () => {
    expect(facts.signedRoutes).toContain('POST /extractions');
    expect(facts.signedRoutes).not.toContain('POST /webhooks/provider');
  });

  it('is what is paid for each month', () => {
    expect(facts).toMatchObject({ sweepsPerMonth: 8_640, secrets: 3, keys: 2 });
  });

  it('follows the memory, the architecture and the log of a function', () => {
    const LoggingConfig = { LogGroup: { Ref: 'None' }, LogFormat: 'JSON', SystemLogLevel: 'WARN' };
    const other = { MemorySize: 256, Architectures: ['x86_64'], LoggingConfig };
    expect(factsOf(changed('AWS::Lambda::Function', other)).functions['start-task']).toEqual({
      ...{ memoryMB: 256, architecture: 'x86_64', format: 'JSON', systemLevel: 'WARN' },
      logClass: 'STANDARD',
    });
  });

  it('follows the class of the logs', () => {
    const rare = factsOf(changed('AWS::Logs::LogGroup', { LogGroupClass: 'INFREQUENT_ACCESS' }));
    expect(rare.functions['start-task']?.logClass).toBe('INFREQUENT_ACCESS');
    expect(rare.accessLog.logClass).toBe('INFREQUENT_ACCESS');
    expect(rare.machine.logClass).toBe('INFREQUENT_ACCESS');
  });

  it('follows the key of the bucket', () => {
    expect(facts.isKeyAskedForEachObject).toBe(false);
    const rule = { ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' }, BucketKeyEnabled: false };
    const other = { BucketEncryption: { ServerSideEncryptionConfiguration: [rule] } };
    expect(factsOf(changed('AWS::S3::Bucket', other)).isKeyAskedForEachObject).toBe(true);
  });

  it.each([
    ['tables that are paid for by the hour', 'AWS::DynamoDB::Table', { BillingMode: 'PROVISIONED' }],
    ['another kind of machine', 'AWS::StepFunctions::StateMachine', { StateMachineType: 'EXPRESS' }],
    ['another kind of API', 'AWS::ApiGatewayV2::Api', { ProtocolType: 'WEBSOCKET' }],
  ])('is refused for %s', (_, type, properties) => {
    expect(() => factsOf(changed(type, properties))).toThrow();
  });
});
