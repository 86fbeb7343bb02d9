type Environment = { [name: string]: string | undefined };

/**
 * The region in the environment, with the precedence of the AWS CLI
 * (https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html). An empty variable counts as absent. A variable overrides
 * the region of a profile.
 */
export const regionIn = (env: Environment): string | undefined =>
  env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined;

/** Passes that region on to the SDK for JavaScript, which reads only `AWS_REGION`, and takes an empty one as a region. */
export const adoptRegion = (env: Environment): void => {
  const region = regionIn(env);
  if (region === undefined) delete env.AWS_REGION;
  else env.AWS_REGION = region;
};
