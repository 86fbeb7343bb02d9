import { Validations } from 'aws-cdk-lib';
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
  type ThrottleSettings,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup } from './encrypted-log-group.ts';

export const webhookPath = '/webhooks/provider';

/** The routes about consents. A header names the user, so that no national id is in a path. */
const consentRoutes: readonly (readonly [method: HttpMethod, path: string])[] = [
  [HttpMethod.POST, '/consent-sessions'],
  [HttpMethod.GET, '/consents'],
  [HttpMethod.GET, '/consents/{consentId}'],
  [HttpMethod.GET, '/consents/{consentId}/pdf'],
  [HttpMethod.POST, '/consents/{consentId}/revoke'],
];

/**
 * A summary reads 10,000 records at most, for half a unit each. Two a second take 10,000 of the 12,000 units that a new table has
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html). More, of a caller that asks in a loop, would
 * throttle the reads of every start and reconcile. An erasure may be of as many records, each of which takes two messages and some ten calls.
 */
const costlyThrottle: ThrottleSettings = { rateLimit: 2, burstLimit: 10 };

/** API Gateway takes no larger burst. */
const maxBurst = 5_000;

/** The throttle of a route. A burst may have as many requests as two seconds at the rate. */
export const throttleOf = (rateLimit: number): ThrottleSettings => ({
  rateLimit,
  burstLimit: Math.min(2 * rateLimit, maxBurst),
});

type ExtractionApiProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly requestExtraction: IFunction;
  readonly getExtraction: IFunction;
  readonly receiveWebhook: IFunction;
  readonly manageConsents: IFunction;
  /** Only with `callersMayErase`. */
  readonly manageErasures: IFunction | undefined;
};

/** The HTTP API: routes for callers with IAM identities, and the provider's webhook. */
export class ExtractionApi extends Construct {
  readonly api: HttpApi;
  /** The base address, without a slash at the end. */
  readonly url: string;
  readonly webhookUrl: string;
  readonly accessLog: EncryptedLogGroup;
  /** The name of the function behind each route, such as `POST /extractions`. */
  readonly functionOfRoute: Readonly<Record<string, string>>;
  /** The custom domain, and where DNS has to point it. */
  readonly customDomain: { readonly name: string; readonly target: string } | undefined;

  private readonly routes: (readonly [key: string, functionName: string])[] = [];

  constructor(scope: Construct, id: string, props: ExtractionApiProps) {
    super(scope, id);
    const { config, dataKey } = props;
    const name = `${stackNameOf(config.stage)}-api`;
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      disableExecuteApiEndpoint: config.disableDefaultEndpoint,
    });

    const signed = new HttpIamAuthorizer();
    this.route(HttpMethod.POST, '/extractions', props.requestExtraction, signed);
    this.route(HttpMethod.GET, '/extractions', props.getExtraction, signed);
    const summary = this.route(HttpMethod.GET, '/extractions/summary', props.getExtraction, signed);
    this.route(HttpMethod.GET, '/extractions/{extractionId}', props.getExtraction, signed);
    const consents = consentRoutes.map(([method, path]) =>
      this.route(method, path, props.manageConsents, signed),
    );
    const erasing: HttpRoute[] = [];
    if (props.manageErasures) {
      erasing.push(this.route(HttpMethod.POST, '/erasures', props.manageErasures, signed));
      this.route(HttpMethod.GET, '/erasures/{erasureId}', props.manageErasures, signed);
    }
    const webhook = this.route(HttpMethod.POST, webhookPath, props.receiveWebhook, new HttpNoneAuthorizer());
    Validations.of(webhook).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'The provider has no AWS identity. receive-webhook first verifies the HMAC of each delivery.',
    });

    this.functionOfRoute = Object.fromEntries(this.routes);
    this.accessLog = new EncryptedLogGroup(this, 'AccessLog', {
      config,
      dataKey,
      deliveredBy: { service: 'apigateway', name: name },
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: throttleOf(config.apiRateLimit),
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: accessLogFormat,
      },
    });
    throttleRoutes(stage, [
      // Its own metrics, for $1.80 a month, as the provider waits for this route only.
      { routes: [webhook], ...throttleOf(config.webhookRateLimit), measured: true },
      { routes: [summary, ...erasing], ...costlyThrottle },
      { routes: consents, ...throttleOf(config.consentRateLimit) },
    ]);

    this.customDomain = this.mapDomain(config, stage);
    this.url = this.customDomain ? `https://${this.customDomain.name}` : this.api.apiEndpoint;
    this.webhookUrl = `${this.url}${webhookPath}`;
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
    this.routes.push([keyOf(route), handler.functionName]);
    return route;
  }

  /** The owner of the custom domain has to create the DNS record, from the output CustomDomainTarget. */
  private mapDomain(
    { domainName: name, certificateArn }: Config,
    stage: HttpStage,
  ): ExtractionApi['customDomain'] {
    if (name === undefined || certificateArn === undefined) return undefined;
    const domainName = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    new ApiMapping(this, 'Mapping', { api: this.api, domainName, stage });
    return { name, target: domainName.regionalDomainName };
  }
}

/** Who called what, with which result. No header, query or body, as they hold signatures and credentials. */
export const accessLogFormat = AccessLogFormat.custom(
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

/** In requests a second, for each of the routes. */
type Throttle = ThrottleSettings & {
  readonly routes: readonly HttpRoute[];
  /** Whether each route has its own metrics in CloudWatch, beside the metrics of the whole API. */
  readonly measured?: boolean;
};

/** Sets the throttles of single routes, for which HttpStage has no property. */
const throttleRoutes = (stage: HttpStage, throttles: readonly Throttle[]): void => {
  const resource = stage.node.defaultChild as CfnStage;
  resource.routeSettings = Object.fromEntries(
    throttles.flatMap(({ routes, rateLimit, burstLimit, measured }) =>
      routes.map((route) => [
        keyOf(route),
        {
          ThrottlingRateLimit: rateLimit,
          ThrottlingBurstLimit: burstLimit,
          ...(measured ? { DetailedMetricsEnabled: true } : {}),
        },
      ]),
    ),
  );
  // API Gateway refuses settings of a route that does not exist yet.
  stage.node.addDependency(...throttles.flatMap(({ routes }) => routes));
};

/** The name of a route at API Gateway, such as `POST /webhooks/provider`. */
const keyOf = (route: HttpRoute): string => (route.node.defaultChild as CfnRoute).routeKey;
