import type { Agent } from 'node:https';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { logicalPrefixOf } from '../../../lib/aws/logical-prefix.ts';
import { isLocalStage, stackNameOf, stagePattern } from '../../../lib/aws/stage.ts';
import { cachedRead } from '../../../lib/cached-read.ts';
import { signedFetch } from '../../../lib/client/signed-fetch.ts';
import { defined } from '../../../lib/defined.ts';
import type { AcceptedRequests } from '../../../lib/extraction/api/parse-request.ts';
import { commandTextOf } from '../terminal/command-text.ts';
import { CliError, codeOf, UsageError } from '../terminal/errors.ts';
import { emulatorApiUrl, readLocalDeployment, toEmulatorUrl } from './local-deployment.ts';
import { proxiedClient } from './proxy.ts';
import { describeStack, readStackResources } from './stack.ts';

/** Spread into the configuration of any AWS SDK client. The SDK's own chain finds what is absent. */
export type ClientConfig = {
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | ReturnType<typeof defaultProvider>;
  readonly requestHandler?: { readonly httpsAgent: Agent };
};

type ConnectOptions = {
  readonly stage: string | undefined;
  /** Where the construct is in another stack: its name, a slash, and the ids down to the construct, with slashes between. */
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  /** Directory of the package, in which `npm start` writes where it serves. */
  readonly root: string;
  readonly endpoint?: string | undefined;
  /** Asks for the code of the MFA device with this serial number. Without it, a profile that needs one has no credentials. */
  readonly mfaCode?: ((serial: string) => Promise<string>) | undefined;
  /** The path at which the emulator at `endpoint` serves an HTTP API, with `{apiId}`. Default: that of MiniStack. */
  readonly apiPath?: string | undefined;
  /** Where the deployment is, if that is known already. */
  readonly client?: ClientConfig;
};

const stageOf = ({ stage }: ConnectOptions): string => {
  if (stage === undefined) {
    throw new UsageError(
      'No stage is set. Use --stage <stage>, or set COSECHA_STAGE. The stage of `npm start` is local.',
    );
  }
  if (!stagePattern.test(stage)) {
    throw new UsageError(
      `"${stage}" is not a stage. A stage has 1 to 17 characters of a-z, 0-9 and "-", and starts with a letter.`,
    );
  }
  return stage;
};

/** A stage for an emulator is on that of `npm start`, unless an endpoint is set. */
const clientFor = async (
  stage: string,
  { region, profile, root, endpoint, client, mfaCode }: ConnectOptions,
): Promise<ClientConfig> => {
  if (client !== undefined) return client;
  if (isLocalStage(stage) && endpoint === undefined) {
    if (region !== undefined || profile !== undefined) {
      throw new UsageError(
        `The stage ${stage} has the region and the credentials of \`npm start\`. Omit --region and --profile, or set AWS_ENDPOINT_URL to another emulator.`,
      );
    }
    const running = await readLocalDeployment(root);
    if (running !== undefined) {
      const { endpoint: its, region: inRegion, credentials } = running;
      return { endpoint: its, region: inRegion, credentials };
    }
    throw new CliError([
      `No local deployment runs in this folder (${root}). Run \`npm start\` in another terminal, or set AWS_ENDPOINT_URL to an emulator.`,
      'If one runs in another folder, run this command there, or set AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to what .cosecha/running.json has there.',
    ]);
  }
  // One chain for all clients, so that the code of an MFA device is asked for once.
  return {
    ...defined({ region, profile, endpoint }),
    ...proxiedClient(process.env),
    credentials: defaultProvider(defined({ profile, mfaCodeProvider: mfaCode })),
  };
};

const regionOf = async ({ config }: CloudFormationClient, { profile }: ConnectOptions): Promise<string> => {
  try {
    return await config.region();
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    // The SDK refuses what cannot be part of a host name.
    if (cause.message.startsWith('Region not accepted')) {
      throw new UsageError('The region is not one of AWS. Check --region, AWS_REGION and the profile.', {
        cause,
      });
    }
    if (cause.message !== 'Region is missing') throw cause;
    const inProfile =
      profile === undefined ? '' : `, and the profile "${profile}" has none or does not exist`;
    throw new UsageError(`No region is set${inProfile}. Use --region <region>, or set AWS_REGION.`, {
      cause,
    });
  }
};

/** What stands before the outputs of each deployment of a stack, of which all have this one. */
const prefixesIn = (outputs: readonly string[]): readonly string[] =>
  outputs.flatMap((key) => (key.endsWith('ApiUrl') ? [key.slice(0, -'ApiUrl'.length)] : []));

/** The outputs that the stack has only with a setting. */
export const settingOfOutput: Readonly<Record<string, string>> = {
  CustomDomainTarget: 'domainName',
  EventBusArn: 'publishEvents',
  EventDeadLetterQueueUrl: 'publishEvents',
  PublishFunctionName: 'publishEvents',
  StartsPerSecond: 'startsPerSecond',
};

type NamedStack = { readonly named: string; readonly prefix: string; readonly stage: string };

/**
 * Throws UsageError where the stack has no deployment under these ids, or one of another stage. Secrets, alarms and parameters are
 * found by the stage, so a delivery for one could otherwise be signed with the key of the other.
 */
const checkNamedStack = (
  { named, prefix, stage }: NamedStack,
  outputs: Readonly<Record<string, string>>,
): void => {
  const prefixes = prefixesIn(Object.keys(outputs));
  if (!prefixes.includes(prefix)) {
    const [stackName] = named.split('/');
    const found = prefixes.map((one) => [stackName, one].filter(Boolean).join('/')).join(', ');
    throw new UsageError(
      `There is no deployment ${named}. --stack has the form <stack name>/<construct id>. ${found === '' ? `The stack ${stackName} has no deployment.` : `There is ${found}.`}`,
    );
  }
  const deployed = outputs[`${prefix}Stage`] ?? stage;
  if (deployed === stage) return;
  throw new UsageError(`${named} is the stage ${deployed}, and not ${stage}. Use --stage ${deployed}.`);
};

/** Whether a resource belongs to the deployment with this prefix, and not to another of the stack whose prefix is longer. */
const isOfDeployment = (prefix: string, outputs: readonly string[]) => {
  const longer = prefixesIn(outputs).filter((other) => other !== prefix && other.startsWith(prefix));
  return (logicalId: string): boolean =>
    logicalId.startsWith(prefix) && !longer.some((other) => logicalId.startsWith(other));
};

/**
 * Finds the stack of a stage. Throws UsageError without a stage or a region, CliError where there is no such stack or
 * nothing answers, and the SDK's errors.
 */
export const connect = async (options: ConnectOptions) => {
  const stage = stageOf(options);
  const name = stackNameOf(stage);
  const [stackName = name, ...ids] = options.stack?.split('/') ?? [];
  const prefix = logicalPrefixOf(ids);
  const client = await clientFor(stage, options);
  const cloudFormation = new CloudFormationClient(client);
  const region = await regionOf(cloudFormation, options);
  const stack = await describeStack(cloudFormation, stackName).catch((cause: unknown) => {
    if (client.endpoint === undefined || codeOf(cause) !== 'ECONNREFUSED') throw cause;
    const explanation =
      options.endpoint === undefined
        ? ': `npm start` was ended before it could clean up. Start it again.'
        : ', which AWS_ENDPOINT_URL names. Start that emulator, or unset the variable.';
    throw new CliError(`Nothing answers at ${client.endpoint}${explanation}`, { cause });
  });
  if (stack === undefined) {
    throw new CliError([
      `There is no stack ${stackName} in ${region}. Check the stage, the region (--region) and the account (--profile).`,
      ...(options.stack === undefined
        ? ['Is the construct in a stack of your own? Then add --stack <stack name>/<construct id>.']
        : []),
    ]);
  }
  if (options.stack !== undefined) checkNamedStack({ named: options.stack, prefix, stage }, stack.outputs);
  /** An output that only some settings add. */
  const findOutput = (name: string): string | undefined => stack.outputs[`${prefix}${name}`] || undefined;
  /** An output of the stack. Throws CliError where the stack does not have it. */
  const output = (name: string): string => {
    const value = findOutput(name);
    if (value !== undefined) return value;
    const setting = settingOfOutput[name];
    if (setting !== undefined) {
      throw new CliError(
        `The stack ${stackName} has no output ${prefix}${name}, because the setting ${setting} is off. Set it, and deploy again.`,
      );
    }
    throw new CliError(
      `The stack ${stackName} has no output ${prefix}${name}. Deploy it with this version of Cosecha.`,
    );
  };
  const endpoint = client.endpoint ?? options.endpoint;
  const base =
    endpoint === undefined ? output('ApiUrl') : emulatorApiUrl(endpoint, output('ApiId'), options.apiPath);
  const webhookUrl =
    endpoint === undefined ? output('WebhookUrl') : toEmulatorUrl(base, output('WebhookUrl'));
  const { credentials } = cloudFormation.config;
  const isOwn = isOfDeployment(prefix, Object.keys(stack.outputs));
  // The console outlives deployments.
  const byType = cachedRead(
    300,
    () => new Date(),
    () => readStackResources(cloudFormation, stackName, isOwn),
  );
  return {
    stage,
    /** The prefix of the deployment's secrets, alarms and parameters. */
    name,
    client,
    command: commandTextOf({
      stage,
      stack: options.stack,
      region: options.region,
      profile: options.profile,
    }),
    stackName,
    stackStatus: String(stack.status),
    isEmulated: endpoint !== undefined,
    /** Whether its template is adapted to MiniStack (`infra/adapt-to-emulator.ts`). Every other emulator gets that of AWS. */
    isMiniStack: isLocalStage(stage) && options.apiPath === undefined,
    output,
    findOutput,
    outputNames: Object.keys(stack.outputs).flatMap((key) =>
      isOwn(key) && stack.outputs[key] ? [key.slice(prefix.length)] : [],
    ),
    /** Physical ids of the deployment's resources of a type. */
    resources: async (type: string) => (await byType()).get(type) ?? [],
    /** The interval of the sweep, which decides what is overdue. Throws as `output`. */
    sweepEveryMinutes: () => Number(output('SweepEveryMinutes')),
    /** What its settings let requests name. */
    acceptedRequests: () => JSON.parse(findOutput('AcceptedRequests') ?? '{}') as AcceptedRequests,
    /** `base` has no trailing slash. `fetch` signs with the operator's credentials. */
    api: { base, webhookUrl, fetch: signedFetch({ region, credentials }) },
  };
};

export type Deployment = Readonly<Awaited<ReturnType<typeof connect>>>;

/** A part that was read only up to a limit is not `complete`. */
export type Bounded<Item> = { readonly items: readonly Item[]; readonly complete: boolean };
