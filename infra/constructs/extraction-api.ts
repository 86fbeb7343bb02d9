import { CfnOutput, Stack, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  type CfnRoute,
  type CfnStage,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  type HttpRoute,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup, vendedLogGroupName } from './encrypted-log-group.ts';

export const WEBHOOK_PATH = '/webhooks/provider';

/** What callers may do with consents. The user whose they are is named by a header, never in the path. */
const CONSENT_ROUTES: readonly (readonly [method: HttpMethod, path: string])[] = [
  [HttpMethod.POST, '/consent-sessions'],
  [HttpMethod.GET, '/consents'],
  [HttpMethod.GET, '/consents/{consentId}'],
  [HttpMethod.GET, '/consents/{consentId}/pdf'],
  [HttpMethod.POST, '/consents/{consentId}/revoke'],
];

interface ExtractionApiProps {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly requestExtraction: IFunction;
  readonly getExtraction: IFunction;
  readonly receiveWebhook: IFunction;
  readonly manageConsents: IFunction;
}

/** The HTTP API: routes for callers with IAM identities, and the provider's webhook. */
export class ExtractionApi extends Construct {
  readonly api: HttpApi;
  /** Without a slash at the end. */
  readonly url: string;
  readonly webhookUrl: string;

  constructor(scope: Construct, id: string, props: ExtractionApiProps) {
    super(scope, id);
    const { config, dataKey } = props;
    const name = `${Stack.of(this).stackName}-api`;
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      disableExecuteApiEndpoint: config.disableDefaultEndpoint,
    });

    const signed = new HttpIamAuthorizer();
    this.route(HttpMethod.POST, '/extractions', props.requestExtraction, signed);
    this.route(HttpMethod.GET, '/extractions/{extractionId}', props.getExtraction, signed);
    const consents = CONSENT_ROUTES.map(([method, path]) =>
      this.route(method, path, props.manageConsents, signed),
    );
    const webhook = this.route(HttpMethod.POST, WEBHOOK_PATH, props.receiveWebhook, new HttpNoneAuthorizer());
    Validations.of(webhook).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason:
        'The provider has no AWS identity: receive-webhook verifies the HMAC of each delivery before anything else.',
    });

    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: config.apiRateLimit, burstLimit: config.apiBurstLimit },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new EncryptedLogGroup(this, 'AccessLog', {
            config,
            dataKey,
            logGroupName: vendedLogGroupName('apigateway', name),
          }),
        ),
        format: ACCESS_LOG,
      },
    });
    throttleRoutes(stage, [
      // Measured by itself, for $1.80 a month: the provider waits for this route, and for no other.
      { routes: [webhook], rate: config.webhookRateLimit, burst: config.webhookBurstLimit, measured: true },
      { routes: consents, rate: config.consentRateLimit, burst: config.consentBurstLimit },
    ]);

    this.url = this.customDomain(config, stage) ?? this.api.apiEndpoint;
    this.webhookUrl = `${this.url}${WEBHOOK_PATH}`;
  }

  private route(
    method: HttpMethod,
    path: string,
    handler: IFunction,
    authorizer: IHttpRouteAuthorizer,
  ): HttpRoute {
    const [route] = this.api.addRoutes({
      path,
      methods: [method],
      integration: new HttpLambdaIntegration('Integration', handler),
      authorizer,
    });
    if (route === undefined) throw new Error(`HttpApi made no route for ${method} ${path}`);
    return route;
  }

  /** The custom domain's address; its DNS record is the owner's to make, from the output CustomDomainTarget. */
  private customDomain(config: Config, stage: HttpStage): string | undefined {
    if (config.domainName === undefined || config.certificateArn === undefined) return undefined;
    const domainName = new DomainName(this, 'Domain', {
      domainName: config.domainName,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', config.certificateArn),
    });
    new ApiMapping(this, 'Mapping', { api: this.api, domainName, stage });
    new CfnOutput(Stack.of(this), 'CustomDomainTarget', {
      description: `Point ${config.domainName} here (CNAME or alias); a new stack has a new target`,
      value: domainName.regionalDomainName,
    });
    return `https://${config.domainName}`;
  }
}

/** Who called what, and how it went. No header, query or body: they hold signatures and, once, credentials. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    requestTime: '$context.requestTime',
    routeKey: '$context.routeKey',
    path: '$context.path',
    status: '$context.status',
    responseLength: '$context.responseLength',
    responseLatency: '$context.responseLatency',
    integrationError: '$context.integrationErrorMessage',
    sourceIp: '$context.identity.sourceIp',
    userArn: '$context.identity.userArn',
  }),
);

interface Throttle {
  readonly routes: readonly HttpRoute[];
  /** In requests a second, for each of the routes by itself. */
  readonly rate: number;
  readonly burst: number;
  /** Whether CloudWatch gets metrics of each of the routes, besides those of the whole API. */
  readonly measured?: boolean;
}

/** HttpStage throttles all routes alike; a route's own settings exist in CloudFormation only. */
const throttleRoutes = (stage: HttpStage, throttles: readonly Throttle[]): void => {
  const resource = stage.node.defaultChild as CfnStage;
  resource.routeSettings = Object.fromEntries(
    throttles.flatMap(({ routes, rate, burst, measured }) =>
      routes.map((route) => [
        keyOf(route),
        {
          ThrottlingRateLimit: rate,
          ThrottlingBurstLimit: burst,
          ...(measured ? { DetailedMetricsEnabled: true } : {}),
        },
      ]),
    ),
  );
  // The service refuses settings for a route that is not there yet.
  stage.node.addDependency(...throttles.flatMap(({ routes }) => routes));
};

/** `POST /webhooks/provider`, as the service names a route. */
const keyOf = (route: HttpRoute): string => (route.node.defaultChild as CfnRoute).routeKey;
