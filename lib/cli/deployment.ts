import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LOCAL_STAGE, stackNameOf, stagePattern } from '../aws/stage.ts';
import { describeStack } from './aws/describe-stack.ts';
import { emulatorApiUrl, toEmulatorUrl } from './aws/emulator-url.ts';
import { signedFetch } from './aws/signed-fetch.ts';
import { CliError, UsageError } from './errors.ts';
import { readLocalDeployment } from './local-deployment.ts';

/** Spread into the configuration of any AWS SDK client; what is absent, the SDK's own chain finds. */
export type ClientConfig = {
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

/** One deployment, as an operator reaches it. */
export type Deployment = {
  readonly stage: string;
  readonly stackName: string;
  readonly stackStatus: string;
  readonly client: ClientConfig;
  /** Whether it is on an emulator. */
  readonly isEmulated: boolean;
  /** Throws Problem for one that the stack has not. */
  readonly output: (name: string) => string;
  readonly api: {
    /** Without a trailing slash. */
    readonly base: string;
    readonly webhookUrl: string;
    /** Signed with the operator's credentials. */
    readonly fetch: ReturnType<typeof signedFetch>;
  };
};

/** What the command line and the environment say of where to go. */
export type ConnectOptions = {
  readonly stage: string | undefined;
  readonly region: string | undefined;
  readonly profile: string | undefined;
  /** Of the package: where `npm start` leaves word. */
  readonly root: string;
  readonly endpoint: string | undefined;
};

const stageOf = ({ stage }: ConnectOptions): string => {
  if (stage === undefined) {
    throw new UsageError(
      'Which stage? Say --stage <stage>, or set COSECHA_STAGE; the stage of `npm start` is local.',
    );
  }
  if (!stagePattern.test(stage)) {
    throw new UsageError(
      `"${stage}" is no stage: those are 1 to 20 of a-z, 0-9 and "-", starting with a letter.`,
    );
  }
  return stage;
};

/** Where the clients go: to what `npm start` serves, for its stage and where nothing else is named. */
const clientFor = async (
  stage: string,
  { region, profile, root, endpoint }: ConnectOptions,
): Promise<ClientConfig> => {
  if (stage === LOCAL_STAGE && endpoint === undefined) {
    const running = await readLocalDeployment(root);
    if (running !== undefined) return running;
    throw new CliError(
      'Nothing is served here: run `npm start` in another terminal, or name an emulator in AWS_ENDPOINT_URL.',
    );
  }
  return {
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
  };
};

const isRefused = (error: unknown): boolean => (error as { code?: unknown }).code === 'ECONNREFUSED';

/**
 * Finds the stack of a stage. Throws Problem where there is none or nothing answers, UsageProblem without a stage,
 * and the SDK's errors.
 */
export const connect = async (whereabouts: ConnectOptions): Promise<Deployment> => {
  const stage = stageOf(whereabouts);
  const stackName = stackNameOf(stage);
  const client = await clientFor(stage, whereabouts);
  const cloudFormation = new CloudFormationClient(client);
  const stack = await describeStack(cloudFormation, stackName).catch((cause: unknown) => {
    if (client.endpoint === undefined || !isRefused(cause)) throw cause;
    throw new CliError(
      `Nothing answers at ${client.endpoint}, where \`npm start\` served: it has ended without saying so. Start it again.`,
      { cause },
    );
  });
  const region = await cloudFormation.config.region();
  if (stack === undefined) {
    throw new CliError(
      `There is no stack ${stackName} in ${region}: is it another stage, region (--region) or account (--profile)?`,
    );
  }
  const output = (name: string): string => {
    const value = stack.outputs[name];
    if (value !== undefined && value !== '') return value;
    throw new CliError(
      `The stack ${stackName} has no output ${name}: deploy it with this version of Cosecha.`,
    );
  };
  const endpoint = client.endpoint ?? whereabouts.endpoint;
  const base = endpoint === undefined ? output('ApiUrl') : emulatorApiUrl(endpoint, output('ApiId'));
  const webhookUrl =
    endpoint === undefined ? output('WebhookUrl') : toEmulatorUrl(base, output('WebhookUrl'));
  const { accessKeyId, secretAccessKey, sessionToken } = await cloudFormation.config.credentials();
  const credentials = {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
  return {
    stage,
    stackName,
    stackStatus: stack.status,
    client,
    isEmulated: endpoint !== undefined,
    output,
    api: { base, webhookUrl, fetch: signedFetch({ region, credentials }) },
  };
};
