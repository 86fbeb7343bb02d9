import { Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  type CfnStage,
  DomainName,
  HttpApi,
  type HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  LogGroupLogDestination,
  type ThrottleSettings,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup } from './encrypted-log-group.ts';

export const webhookPath = '/webhooks/provider';

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
  readonly functions: Readonly<
    Record<'requestExtraction' | 'getExtraction' | 'receiveWebhook' | 'manageConsents', CosechaFunction>
  > & { readonly manageErasures?: CosechaFunction };
};

type Route = {
  readonly behind: CosechaFunction;
  /** Of this route alone. Default: that of the stage. */
  readonly throttle?: ThrottleSettings;
  /** Open to the internet, and with metrics of its own, for $1.80 a month, as the provider waits for this route only. */
  readonly isWebhook?: true;
};

/** By their names at API Gateway. A header names the user of a consent, so that no national id is in a path. */
const routesOf = ({ config, functions }: ExtractionApiProps): Readonly<Record<string, Route>> => {
  const { requestExtraction, getExtraction, receiveWebhook, manageConsents, manageErasures } = functions;
  const consents = { behind: manageConsents, throttle: throttleOf(config.consentRateLimit) };
  return {
    'POST /extractions': { behind: requestExtraction },
    'GET /extractions': { behind: getExtraction },
    'GET /extractions/summary': { behind: getExtraction, throttle: costlyThrottle },
    'GET /extractions/{extractionId}': { behind: getExtraction },
    'POST /consent-sessions': consents,
    'GET /consents': consents,
    'GET /consents/{consentId}': consents,
    'GET /consents/{consentId}/pdf': consents,
    'POST /consents/{consentId}/revoke': consents,
    ...(manageErasures && {
      'POST /erasures': { behind: manageErasures, throttle: costlyThrottle },
      'GET /erasures/{erasureId}': { behind: manageErasures },
    }),
    [`POST ${webhookPath}`]: {
      behind: receiveWebhook,
      throttle: throttleOf(config.webhookRateLimit),
      isWebhook: true,
    },
  };
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

  constructor(scope: Construct, id: string, props: ExtractionApiProps) {
    super(scope, id);
    const { config, dataKey } = props;
    const name = `${stackNameOf(config.stage)}-api`;
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      disableExecuteApiEndpoint: config.disableDefaultEndpoint,
    });
    const routes = Object.entries(routesOf(props));
    this.functionOfRoute = Object.fromEntries(
      routes.map(([key, { behind }]) => [key, behind.function.functionName]),
    );
    this.accessLog = new EncryptedLogGroup(this, 'AccessLog', {
      config,
      dataKey,
      deliveredBy: { service: 'apigateway', name },
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
    this.addRoutes(routes, stage);
    this.customDomain = this.mapDomain(config, stage);
    this.url = this.customDomain ? `https://${this.customDomain.name}` : this.api.apiEndpoint;
    this.webhookUrl = `${this.url}${webhookPath}`;
  }

  private addRoutes(routes: readonly (readonly [key: string, Route])[], stage: HttpStage): void {
    const signed = new HttpIamAuthorizer();
    const settings: Record<string, unknown> = {};
    for (const [key, { behind, throttle, isWebhook }] of routes) {
      const [method, path = ''] = key.split(' ');
      const made = this.api.addRoutes({
        path,
        methods: [method as HttpMethod],
        integration: new HttpLambdaIntegration('Integration', behind.function),
        authorizer: isWebhook ? new HttpNoneAuthorizer() : signed,
      });
      for (const route of isWebhook ? made : []) {
        Validations.of(route).acknowledge({
          id: 'AwsSolutions-APIG4',
          reason:
            'The provider has no AWS identity. receive-webhook first verifies the HMAC of each delivery.',
        });
      }
      if (throttle === undefined) continue;
      settings[key] = {
        ThrottlingRateLimit: throttle.rateLimit,
        ThrottlingBurstLimit: throttle.burstLimit,
        ...(isWebhook && { DetailedMetricsEnabled: true }),
      };
      // API Gateway refuses settings of a route that does not exist yet.
      stage.node.addDependency(...made);
    }
    // HttpStage has no property for the throttles of single routes.
    (stage.node.defaultChild as CfnStage).routeSettings = settings;
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
