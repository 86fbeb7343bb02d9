import type { App, Stack } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks } from 'cdk-nag';
import { describe, expect, test, vi } from 'vitest';
import { connectionFromEnvironment } from '#lib/aws/wiring/provider-from-environment.ts';
import { notShownEndpoints } from '#lib/provider/assumptions.ts';
import { extractionMachineDefinition } from '../../../infra/extraction-machine-definition.ts';
import { readConfig, reservedConcurrency } from '../../../infra/settings/config.ts';
import {
  type DeployedFunction,
  describeResources,
  everyOption,
  flatten,
  functionsOf,
  propertiesOf,
  type Resource,
  required,
  resourcesOf,
  synthesize,
} from './synth.ts';

const { app, template } = synthesize();
const local = synthesize({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });

const dataHolders = [
  'AWS::DynamoDB::Table',
  'AWS::S3::Bucket',
  'AWS::KMS::Key',
  'AWS::SecretsManager::Secret',
  'AWS::Logs::LogGroup',
];

describe('the rules of AWS Solutions', () => {
  test.each([
    ['for a deployment', app],
    ['for the emulator', local.app],
    ['for a deployment with every option', synthesize(everyOption).app],
  ])('find no violation without a written reason %s', (_, checked) => {
    expect(new AwsSolutionsChecks(checked).validateScope(checked).violations).toEqual([]);
  });
});

test.each([
  ['NIST 800-53 R5', NIST80053R5Checks],
  ['HIPAA', HIPAASecurityChecks],
])('the rules of %s find nothing without a written reason', (_, Checks) => {
  const { app: checked } = synthesize(everyOption);
  expect(new Checks(checked).validateScope(checked).violations).toEqual([]);
});

test('the resources are those that a reviewer has read', async () => {
  const all = describeResources(synthesize({ publishEvents: 'true' }).template);
  await expect(all).toMatchFileSnapshot('resources.txt');
});

test('no command deletes a stack by accident, except on the emulator', () => {
  const isProtected = (its: App, id: string) => (its.node.findChild(id) as Stack).terminationProtection;
  expect(isProtected(app, 'Cosecha-prod')).toBe(true);
  expect(isProtected(local.app, 'Cosecha-local')).toBe(false);
});

describe('resources with data', () => {
  test('is not kept under a fixed name where an option adds it, so that the option can be switched on, off and on again', () => {
    const every = synthesize(everyOption).template.toJSON().Resources as Record<string, Resource>;
    const basic = template.toJSON().Resources as Record<string, Resource>;
    const added = Object.entries(every).filter(([id]) => basic[id] === undefined);
    expect(added.map(([, { Type }]) => Type)).toEqual(
      expect.arrayContaining([
        'AWS::Events::EventBus',
        'AWS::Lambda::Function',
        'AWS::ApiGatewayV2::DomainName',
      ]),
    );
    const kept = added.filter(([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete');
    // A log with a name that CloudFormation makes stays: the next one has another name.
    expect(kept.filter(([, { Properties }]) => 'LogGroupName' in Properties).map(([id]) => id)).toEqual([]);
    expect(new Set(kept.map(([, { Type }]) => Type))).toEqual(new Set(['AWS::Logs::LogGroup']));
  });

  test('goes with the stack on the emulator', () => {
    for (const type of dataHolders) {
      for (const [id, resource] of Object.entries(resourcesOf(local.template, type))) {
        expect([id, resource.DeletionPolicy]).toEqual([id, 'Delete']);
      }
    }
    local.template.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });
});

describe('the secrets', () => {
  test('are filled by commands that prompt for the value', () => {
    const { Value } = template.findOutputs('FillProviderApiKey').FillProviderApiKey ?? {};
    expect(flatten(Value)).toBe('npm exec --no -- cosecha --stage prod --region <AWS::Region> fill api-key');
  });
});

describe('the functions', () => {
  const functionsWith = (settings: Readonly<Record<string, unknown>>) =>
    functionsOf(synthesize(settings).template);
  const all = functionsWith({});

  /** A property or a variable of each function that has it, by the name of the function. */
  const eachWith = (
    functions: ReadonlyMap<string, DeployedFunction>,
    valueIn: (one: DeployedFunction) => unknown,
  ) =>
    Object.fromEntries(
      [...functions].map(([name, one]) => [name, valueIn(one)]).filter(([, value]) => value !== undefined),
    );

  test('have startTimeoutSeconds as the timeout of start-task, and the interval as that of the sweep', () => {
    const settings = {
      stage: 'accept',
      startTimeoutSeconds: 100,
      webhookWaitSeconds: 610,
      sweepEveryMinutes: 2,
    };
    const functions = functionsWith(settings);
    const lambda = functions.get('start-task');
    expect(lambda?.properties.Timeout).toBe(100);
    expect(JSON.parse(lambda?.variables.TIMINGS ?? '')).toMatchObject({ startTimeout: 100 });
    expect(functions.get('sweep-extractions')?.properties.Timeout).toBe(120);
  });

  test('reserve concurrency only where a setting does, and for the dispatcher, which is invoked by many', () => {
    const reserved = (functions: typeof all) =>
      eachWith(functions, ({ properties }) => properties.ReservedConcurrentExecutions);
    expect(reserved(all)).toEqual({ 'dispatch-starts': 3 });
    expect(reserved(functionsWith(everyOption))).toEqual({
      'dispatch-starts': 3,
      'request-extraction': 20,
      'receive-webhook': 5,
      'start-task': 50,
      'reconcile-extraction': 100,
    });
    expect(reservedConcurrency(readConfig({ ...required, ...everyOption }))).toBe(3 + 20 + 5 + 50 + 100);
  });

  test('have the processor for 200 releases a second, of 2 ms each, if they release starts', () => {
    const { MemorySize } = all.get('dispatch-starts')?.properties ?? {};
    // A function has one vCPU at 1,769 MB (https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
    expect((1_000 * Number(MemorySize)) / 1_769).toBeGreaterThan(200 * 2 + 100);
  });

  test('have memory for results of the maximum size if they hold results', () => {
    const large = functionsWith({ resultsMaxBytes: 50 * 1_048_576 });
    const memory = [all, large].map((some) => some.get('reconcile-extraction')?.properties.MemorySize);
    expect(memory).toEqual([256, 462]);
  });

  test('have the provider client and its widget in their environment if the settings name them', () => {
    const functions = functionsWith(everyOption);
    expect(eachWith(functions, ({ variables }) => variables.PROVIDER_CLIENT_ID)).toEqual({
      'request-extraction': everyOption.providerClientId,
      'start-task': everyOption.providerClientId,
      'reconcile-extraction': everyOption.providerClientId,
      'manage-consents': everyOption.providerClientId,
    });
    expect(eachWith(functions, ({ variables }) => variables.WIDGET_CONFIG_ID)).toEqual({
      'manage-consents': everyOption.widgetConfigId,
    });
  });

  test('call the endpoints that the settings name, in place of those that are not shown', () => {
    const given = {
      revokeConsentEndpoint: 'DELETE /api/v1/consents/{consentId}',
      pollExtractionV2Endpoint: 'GET /api/v2/tasks/{taskId}/data',
    };
    const functions = functionsWith(given);
    const endpoints = eachWith(functions, ({ variables }) => variables.PROVIDER_ENDPOINTS);
    expect(Object.keys(endpoints).toSorted()).toEqual([
      'manage-consents',
      'reconcile-extraction',
      'start-task',
    ]);
    for (const [name, json] of Object.entries(endpoints)) {
      vi.stubEnv('PROVIDER_BASE_URL', 'https://provider.example');
      vi.stubEnv('PROVIDER_TIMEOUTS', functions.get(name)?.variables.PROVIDER_TIMEOUTS);
      vi.stubEnv('PROVIDER_ENDPOINTS', String(json));
      expect(connectionFromEnvironment(1).endpoints).toEqual({
        ...notShownEndpoints,
        revokeConsent: { method: 'DELETE', path: '/api/v1/consents/{consentId}' },
        pollExtractionV2: { method: 'GET', path: '/api/v2/tasks/{taskId}/data' },
      });
    }
    vi.unstubAllEnvs();
  });

  test('answer requests about consents within the timeout of API Gateway', () => {
    const { PROVIDER_TIMEOUTS = '' } = all.get('manage-consents')?.variables ?? {};
    const { total } = JSON.parse(PROVIDER_TIMEOUTS) as { total: number };
    // Token, call, token, call.
    expect(4 * total).toBeLessThan(27_000);
  });

  test.each([{}, { startTimeoutSeconds: 200, webhookWaitSeconds: 710 }])(
    'leave a turn to its process until that has ended, with %o',
    (settings) => {
      const { variables, properties } = functionsWith(settings).get('start-task') ?? {};
      const { turnSeconds } = JSON.parse(variables?.BREAKER ?? '') as { turnSeconds: number };
      expect(turnSeconds).toBeGreaterThan(Number(properties?.Timeout));
    },
  );
});

test('the machine has the definition of its own test', () => {
  const [properties = {}] = propertiesOf(template, 'AWS::StepFunctions::StateMachine');
  const deployed = flatten(properties.DefinitionString);
  const expected = extractionMachineDefinition(readConfig(required), {
    startTask: '<StartTaskFunction.Arn>',
    reconcile: '<ReconcileExtractionFunction.Arn>',
    startLine: '<StorageStartLine>',
  });
  expect(JSON.parse(deployed)).toEqual(expected);
});

describe('the API', () => {
  test('has the limits of a route once that route is there', () => {
    template.hasResource('AWS::ApiGatewayV2::Stage', {
      DependsOn: Match.arrayWith([Match.stringLikeRegexp('webhooksprovider')]),
    });
  });

  test('answers at a custom domain if the settings name one, and can be limited to it', () => {
    const domain = {
      domainName: 'api.example.com',
      certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
    };
    const own = synthesize(domain).template;
    const endpointOf = (disabled: boolean) => ({ DisableExecuteApiEndpoint: disabled });
    own.hasResourceProperties('AWS::ApiGatewayV2::Api', endpointOf(false));
    const alone = synthesize({ ...domain, disableDefaultEndpoint: 'true' }).template;
    alone.hasResourceProperties('AWS::ApiGatewayV2::Api', endpointOf(true));
    alone.hasOutput('ApiUrl', { Value: 'https://api.example.com' });
    own.hasOutput('WebhookUrl', { Value: 'https://api.example.com/webhooks/provider' });
    own.hasOutput('CustomDomainTarget', {
      Description: Match.stringLikeRegexp('Point api.example.com here'),
    });
    own.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 1);
  });
});

test('the reconcile queue and the slow queue each have as many consumers as the setting allows', () => {
  const mapping = { ScalingConfig: { MaximumConcurrency: 7 }, BatchSize: 1 };
  const { template: its } = synthesize({ reconcileConcurrency: 7 });
  its.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', mapping, 2);
});
