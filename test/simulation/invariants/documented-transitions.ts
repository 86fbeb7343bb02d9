/**
 * The transition table of the design (section 3), written once more: the simulation must not take the word of
 * the code for what is allowed. `from` and `to` as `from>to`.
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

/** What the provider says of how a task ended. */
export const providerStatuses: ReadonlySet<string> = new Set(provider);

/** Still to be settled. */
export const openStatuses: ReadonlySet<string> = new Set(['REQUESTED', 'STARTING', 'RUNNING']);
