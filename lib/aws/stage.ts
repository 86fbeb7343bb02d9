/** The one stage that runs on an emulator: plain http is allowed, and nothing is retained or protected. */
export const LOCAL_STAGE = 'local';

/** What a stage may be called. It stands in the names of the stack, its secrets, parameters and alarms. */
export const stagePattern = /^[a-z][a-z0-9-]{0,19}$/;

export const stackNameOf = (stage: string): string => `Cosecha-${stage}`;
