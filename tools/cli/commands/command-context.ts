import type { Deployment } from '../aws/deployment.ts';
import type { Shell } from '../terminal/command-environment.ts';

/** What every command gets. It returns its exit code. */
export type CommandContext = {
  readonly shell: Shell;
  /** Finds the deployment. Throws CliError and the SDK's errors. */
  readonly connect: () => Promise<Deployment>;
};
