import { readFile } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
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

/** The context of the command line, as `-c name=value` or `--context=name=value`. */
export const contextOf = (args: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    args
      .map((arg) => arg.replace(/^(-c|--context=)/, ''))
      .filter((arg) => /^[^-=][^=]*=/.test(arg))
      .map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]),
  );

/** The qualifier of the bootstrap stack, which is a flag of CDK and so in cdk.json. */
export const findQualifier = async (args: readonly string[]): Promise<string | undefined> => {
  const name = '@aws-cdk/core:bootstrapQualifier';
  const { context = {} } = JSON.parse(await readFile('cdk.json', 'utf8')) as {
    readonly context?: Readonly<Record<string, string>>;
  };
  return contextOf(args)[name] ?? context[name];
};
