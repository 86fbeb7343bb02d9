import type { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import { expect, test } from 'vitest';
import { stubClient } from '#support/aws/stub-client.ts';
import { checkRoutes } from '#tools/cli/doctor/check-routes.ts';

const uriOf = (name: string): string => `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;
const functionOfRoute = { 'POST /extractions': 'request', 'GET /extractions': 'get' };
const own = {
  routes: [
    { RouteKey: 'POST /extractions', Target: 'integrations/i-1' },
    { RouteKey: 'GET /extractions', Target: 'integrations/i-2' },
  ],
  integrations: [
    { IntegrationId: 'i-1', IntegrationUri: uriOf('request') },
    {
      IntegrationId: 'i-2',
      IntegrationUri: `arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/${uriOf('get')}/invocations`,
    },
  ],
  mappings: [{ ApiId: 'own' }],
};

/** The finding of an API with these parts. Each part has a page for each of its items. */
const found = async (parts: Partial<typeof own>, customDomain: string | undefined = 'api.example.com') => {
  const all = { ...own, ...parts };
  const { client } = stubClient<ApiGatewayV2Client>((command) => {
    const [, part = ''] = /Get(?:Api)?(\w+)Command/.exec(command.constructor.name) ?? [];
    const items: readonly object[] = all[part.toLowerCase() as keyof typeof all];
    const at = Number(command.input.NextToken ?? 0);
    return { Items: items.slice(at, at + 1), NextToken: at + 1 < items.length ? String(at + 1) : undefined };
  });
  return checkRoutes(client, { apiId: 'own', functionOfRoute, customDomain });
};

test('routes that invoke the functions of the stack pass', async () => {
  const message = '2 routes invoke the functions of this stack';
  expect(await found({})).toEqual({ result: 'passed', message });
});

const [post = { RouteKey: '', Target: '' }, get = post] = own.routes;
const leadingTo = (IntegrationUri: string) => ({
  integrations: [{ IntegrationId: 'i-1', IntegrationUri }, ...own.integrations.slice(1)],
});
const leadsElsewhere = 'POST /extractions does not invoke the function of this stack';

test.each([
  [leadingTo(uriOf('theirs')), leadsElsewhere],
  [leadingTo('https://evil.example'), leadsElsewhere],
  [{ routes: [{ ...post, Target: 'integrations/i-2' }, get] }, leadsElsewhere],
  [{ routes: [get] }, 'POST /extractions is missing'],
  [
    { routes: [post, get, { RouteKey: '$default', Target: 'integrations/i-1' }] },
    '$default is not of this stack',
  ],
  [
    { mappings: [{ ApiId: 'own' }, { ApiId: 'theirs', ApiMappingKey: 'extractions' }] },
    'api.example.com/extractions leads to another API',
  ],
])('an API that somebody changed fails: %j', async (parts, problem) => {
  expect(await found(parts)).toMatchObject({ result: 'failed', message: `API: ${problem}` });
});
