import { readFile } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
import { isLocalStage } from '../../lib/aws/stage.ts';
import type { Credentials } from '../../lib/client/signed-fetch.ts';
import { defined } from '../../lib/defined.ts';

/**
 * The least version of the bootstrap stack that a template of the CDK accepts, by its rule CheckBootstrapVersion. The stack's
 * parameter has its version (https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html).
 */
const leastVersion = 6;

type BootstrapQuery = {
  readonly region: string;
  readonly credentials: Credentials;
  /** That of `@aws-cdk/core:bootstrapQualifier`, if the app sets it. */
  readonly qualifier?: string | undefined;
  /** An emulator. Default: AWS. */
  readonly endpoint?: string | undefined;
};

/**
 * Why nothing can be deployed here yet, as a sentence with the command that helps, or undefined. Only a certain answer counts:
 * without permission to read the parameter, the CDK CLI checks it with a role of its own.
 */
export const findBootstrapProblem = async (
  {
    region,
    credentials,
    qualifier = 'hnb659fds',
    endpoint = `https://ssm.${region}.amazonaws.com`,
  }: BootstrapQuery,
  send: typeof fetch = fetch,
): Promise<string | undefined> => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new AwsClient(
    defined({ accessKeyId, secretAccessKey, sessionToken, service: 'ssm', region }),
  );
  // https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
  const request = await signer.sign(`${endpoint}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AmazonSSM.GetParameter' },
    body: JSON.stringify({ Name: `/cdk-bootstrap/${qualifier}/version` }),
  });
  const body = (await send(request)
    .then((answer) => answer.json())
    .catch(() => ({}))) as {
    readonly __type?: string;
    readonly Parameter?: { readonly Value?: string };
  };
  const version = Number(body.Parameter?.Value ?? leastVersion);
  const isMissing = /\bParameterNotFound$/.test(body.__type ?? '');
  if (!isMissing && version >= leastVersion) return undefined;
  const found = isMissing
    ? `The CDK has no bootstrap stack in ${region} of this account.`
    : `The bootstrap stack of the CDK in ${region} has version ${version}, and ${leastVersion} is needed.`;
  return `${found} Nothing was deployed. Run this once, with the same profile and region, and then try again: npm run bootstrap`;
};

/** A value of the context: the last one of `-c`, or that of `file`, which is the cdk.json of the current directory. */
const findContext = async (
  args: readonly string[],
  name: string,
  file = 'cdk.json',
): Promise<string | undefined> => {
  const given = args
    .map((arg) => arg.replace(/^(-c|--context=)/, ''))
    .findLast((arg) => arg.startsWith(`${name}=`))
    ?.slice(name.length + 1);
  const { context = {} } = JSON.parse(await readFile(file, 'utf8')) as {
    readonly context?: Readonly<Record<string, string>>;
  };
  return given ?? context[name];
};

/** The qualifier of the bootstrap stack. */
export const findQualifier = (args: readonly string[]): Promise<string | undefined> =>
  findContext(args, '@aws-cdk/core:bootstrapQualifier');

/**
 * Why a deployment with these settings would reach no provider, as a sentence, or undefined: examples of pages have such a host, which
 * exists nowhere (https://www.rfc-editor.org/rfc/rfc2606). A stage for emulators may have any.
 */
export const findExampleProvider = async (
  args: readonly string[],
  file?: string,
): Promise<string | undefined> => {
  const address = await findContext(args, 'providerBaseUrl', file);
  const stage = (await findContext(args, 'stage', file)) ?? '';
  const isExample = /^https?:\/\/([^/:]+\.)?example(\.com|\.net|\.org)?\.?([/:]|$)/i.test(address ?? '');
  return isExample && !isLocalStage(stage)
    ? `Setting providerBaseUrl is ${address}, an example that no provider has. Nothing was deployed. Set it in cdk.json to your provider's address.`
    : undefined;
};

/** Examples of the required settings for `npm run synth`, as arguments. None where a stage is set: then its settings count. */
export const exampleSettings = async (args: readonly string[], file?: string): Promise<readonly string[]> =>
  (await findContext(args, 'stage', file)) === undefined
    ? ['-c', 'stage=preview', '-c', 'providerBaseUrl=https://provider.example']
    : [];
