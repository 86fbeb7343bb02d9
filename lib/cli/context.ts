import type { Deployment } from './deployment.ts';
import type { Shell } from './shell.ts';

/** What every command is given. It answers with its exit code: 0 done, 1 not. */
export type Context = {
  readonly shell: Shell;
  /** Finds the deployment; throws Problem and the SDK's errors. */
  readonly connect: () => Promise<Deployment>;
};
