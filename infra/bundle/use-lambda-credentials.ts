import type { Plugin } from 'esbuild';

/** By the end of its path, so that every installation of it is found. */
const chain = /\/@aws-sdk\/credential-provider-node\/dist-es\/index\.js$/;

/**
 * Replaces the SDK's credential chain by its first link. Lambda always passes the role's credentials in environment variables
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html), so the rest never runs: SSO, profiles, processes,
 * web identity, container and instance metadata. It would add 141 KB to each bundle.
 *
 * The build fails if nothing imports the chain: an upgrade has then moved it, and all of it may be in the bundle again. With
 * `import-is-undefined` as an error, it also fails if code imports another name of it.
 */
export const useLambdaCredentials = (): Plugin => ({
  name: 'lambda-credentials',
  setup: ({ onLoad, onEnd }) => {
    let found = false;
    onLoad({ filter: chain }, () => {
      found = true;
      const contents = "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';";
      return { contents, resolveDir: import.meta.dirname };
    });
    const moved = 'Nothing imports the credential chain where it was. Find out which module replaced it.';
    onEnd(() => (found ? undefined : { errors: [{ text: moved }] }));
  },
});
