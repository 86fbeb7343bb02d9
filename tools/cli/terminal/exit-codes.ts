/**
 * The exit codes of `cosecha` (docs/cli.md). An outcome other than COMPLETED has its own, so that a script does not take
 * it for a failure of the command.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  otherOutcome: 3,
  timedOut: 4,
  /** As a shell reports a process that Ctrl-C has ended: 128 + SIGINT. */
  interrupted: 130,
} as const;
