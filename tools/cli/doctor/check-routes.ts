import {
  type ApiGatewayV2Client,
  GetApiMappingsCommand,
  GetIntegrationsCommand,
  GetRoutesCommand,
} from '@aws-sdk/client-apigatewayv2';
import { type Found, failed, passed } from './finding.ts';

type Api = {
  readonly apiId: string;
  /** The name of the function behind each route. */
  readonly functionOfRoute: Readonly<Record<string, string>>;
  readonly customDomain: string | undefined;
};

type Page<Item> = { readonly Items?: Item[] | undefined; readonly NextToken?: string | undefined };

const readAll = async <Item>(read: (token?: string) => Promise<Page<Item>>): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let token: string | undefined;
  do {
    const page = await read(token);
    items.push(...(page.Items ?? []));
    token = page.NextToken;
  } while (token !== undefined);
  return items;
};

/** The name in `arn:aws:lambda:eu-west-1:111122223333:function:name`, which may stand within another URI. */
const functionIn = (uri: string | undefined): string | undefined => /:function:([^:/]+)/.exec(uri ?? '')?.[1];

/**
 * Fails where a request would reach anything but the function of this stack: who may change the API could have credentials sent elsewhere
 * before they are sealed (SECURITY.md).
 */
export const checkRoutes = async (
  client: Pick<ApiGatewayV2Client, 'send'>,
  { apiId: ApiId, functionOfRoute, customDomain: DomainName }: Api,
): Promise<Found> => {
  const [routes, integrations, mappings] = await Promise.all([
    readAll((NextToken) => client.send(new GetRoutesCommand({ ApiId, NextToken }))),
    readAll((NextToken) => client.send(new GetIntegrationsCommand({ ApiId, NextToken }))),
    DomainName === undefined
      ? []
      : readAll((NextToken) => client.send(new GetApiMappingsCommand({ DomainName, NextToken }))),
  ]);
  const targets = new Map(
    routes.map(({ RouteKey = '', Target }) => {
      const integration = integrations.find(
        ({ IntegrationId }) => Target === `integrations/${IntegrationId}`,
      );
      return [RouteKey, functionIn(integration?.IntegrationUri)];
    }),
  );
  const problems = [
    ...Object.entries(functionOfRoute).flatMap(([route, name]) =>
      targets.get(route) === name
        ? []
        : [`${route} ${targets.has(route) ? 'does not invoke the function of this stack' : 'is missing'}`],
    ),
    ...[...targets.keys()].flatMap((route) =>
      Object.hasOwn(functionOfRoute, route) ? [] : [`${route} is not of this stack`],
    ),
    ...mappings.flatMap(({ ApiId: mapped, ApiMappingKey = '' }) =>
      mapped === ApiId ? [] : [`${DomainName}/${ApiMappingKey} leads to another API`],
    ),
  ];
  if (problems.length === 0) return passed(`${targets.size} routes invoke the functions of this stack`);
  return failed(
    `API: ${problems.join('; ')}`,
    'Find in CloudTrail who changed the API, and treat the credentials that were sent since as known to others. Then deploy the stack again with --revert-drift.',
  );
};
