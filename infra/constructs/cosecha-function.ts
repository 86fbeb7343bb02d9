import { fileURLToPath } from 'node:url';
import type { Duration } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { HouseLogGroup } from './house-log-group.ts';

/** The functions; each is `functions/<name>.ts`. */
export type FunctionName =
  | 'request-extraction'
  | 'get-extraction'
  | 'start-task'
  | 'receive-webhook'
  | 'reconcile-extraction'
  | 'sweep-extractions'
  | 'manage-consents';

interface CosechaFunctionProps {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly name: FunctionName;
  readonly timeout: Duration;
  readonly memoryMB: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Everything that the function may do, besides writing its own log. */
  readonly may: readonly PolicyStatement[];
  readonly reservedConcurrency?: number;
  /** Modules to leave out of the bundle, since nothing that this function does ever imports them. */
  readonly neverImported?: readonly string[];
}

const projectFile = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * CommonJS dependencies ask for Node's own modules through `require`, which an ES module does not have.
 * https://github.com/evanw/esbuild/issues/1921
 */
const REQUIRE =
  "import{createRequire as cosechaRequire}from'node:module';const require=cosechaRequire(import.meta.url);";

/**
 * One file per function with everything in it. The AWS SDK too: what is tested is what runs, a bundled client
 * loads faster than the runtime's copy, and the emulator has none. No source maps: they would be several times
 * the code, and be parsed at each cold start.
 */
const bundling: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  minify: true,
  sourceMap: false,
  mainFields: ['module', 'main'],
  bundleAwsSDK: true,
  banner: REQUIRE,
  esbuildArgs: {
    '--conditions': 'module',
    '--legal-comments': 'none',
    // Each stand-in says why the real package is never reached.
    '--alias:@aws-sdk/credential-provider-node': projectFile('infra/constructs/lambda-credentials.ts'),
    '--alias:@aws-sdk/endpoint-cache': projectFile('infra/constructs/lambda-endpoint-cache.ts'),
  },
};

/** A function as all of ours are: Node 24 on arm64, one small file, its own log, and only the rights given here. */
export class CosechaFunction extends Construct {
  readonly function: NodejsFunction;
  readonly role: Role;
  readonly logGroup: HouseLogGroup;

  constructor(scope: Construct, id: string, props: CosechaFunctionProps) {
    super(scope, id);
    const { config, dataKey, name } = props;
    this.logGroup = new HouseLogGroup(this, 'Log', { config, dataKey });
    // A role of its own: the managed policy that CDK attaches by default may create and write any log group.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const mayLog = allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]);
    for (const statement of [mayLog, ...props.may]) this.role.addToPolicy(statement);
    this.function = new NodejsFunction(this, 'Function', {
      description: `Cosecha ${config.stage}: ${name}`,
      entry: projectFile(`functions/${name}.ts`),
      handler: 'handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      depsLockFilePath: projectFile('package-lock.json'),
      projectRoot: projectFile('.'),
      bundling: { ...bundling, externalModules: [...(props.neverImported ?? [])] },
      role: this.role,
      logGroup: this.logGroup,
      timeout: props.timeout,
      memorySize: props.memoryMB,
      environment: {
        POWERTOOLS_SERVICE_NAME: name,
        // Per stage, so that two stages in one account do not add up.
        POWERTOOLS_METRICS_NAMESPACE: `Cosecha/${config.stage}`,
        POWERTOOLS_LOG_LEVEL: 'INFO',
        ...props.environment,
      },
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
  }
}
