import {
  type FunctionConfiguration,
  GetFunctionConfigurationCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { memoize } from '../../../lib/memoize.ts';
import type { Deployment } from '../../cli/aws/deployment.ts';
import { CliError } from '../../cli/terminal/errors.ts';

/** The functions of the stage's stack, read once. */
export const stackParts = ({ client, stackName, resources }: Deployment) => {
  const lambda = new LambdaClient(client);
  const functions = memoize(async () =>
    Promise.all(
      (await resources('AWS::Lambda::Function')).map(async (FunctionName) =>
        describeFunction(await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))),
      ),
    ),
  );
  return {
    functions,
    /** One function by its name. Throws CliError where the stack does not have it. */
    functionNamed: async (name: string): Promise<DeployedFunction> => {
      const found = (await functions()).find((one) => one.name === name);
      if (found !== undefined) return found;
      throw new CliError(
        `The stack ${stackName} has no function ${name}. Deploy it with this version of Cosecha.`,
      );
    },
  };
};

export type StackParts = ReturnType<typeof stackParts>;

export const describeFunction = (configuration: FunctionConfiguration) => {
  const { FunctionName = '', Role = '', MemorySize = 128, Timeout = 3, LoggingConfig } = configuration;
  const variables = configuration.Environment?.Variables ?? {};
  return {
    /** Such as `start-task`. */
    name: variables.POWERTOOLS_SERVICE_NAME ?? FunctionName,
    physicalName: FunctionName,
    roleArn: Role,
    logGroup: LoggingConfig?.LogGroup ?? `/aws/lambda/${FunctionName}`,
    memoryMB: MemorySize,
    timeoutSeconds: Timeout,
    variables,
  };
};

/** A function of the stage, as it is deployed now. */
export type DeployedFunction = Readonly<ReturnType<typeof describeFunction>>;
