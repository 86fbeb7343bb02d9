/**
 * The transition table of the design (section 3), as `from>to`. It is repeated here, because the simulation must not
 * derive from the code what is allowed.
 */
const provider = ['COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];

export const documentedTransitions: ReadonlySet<string> = new Set([
  'REQUESTED>STARTING',
  'STARTING>REQUESTED',
  'STARTING>RUNNING',
  'STARTING>REJECTED',
  'STARTING>UNCONFIRMED',
  'UNCONFIRMED>RUNNING',
  'REQUESTED>NOT_STARTED',
  'RUNNING>UNCONFIRMED',
  'RUNNING>TIMED_OUT',
  ...provider.flatMap((status) => [`RUNNING>${status}`, `TIMED_OUT>${status}`]),
]);

/** The final statuses of the provider. */
export const providerStatuses: ReadonlySet<string> = new Set(provider);

/** Statuses without an outcome. */
export const openStatuses: ReadonlySet<string> = new Set(['REQUESTED', 'STARTING', 'RUNNING']);
