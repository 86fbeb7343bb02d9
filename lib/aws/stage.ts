/** The stage of `npm start`. */
export const LOCAL_STAGE = 'local';

/** Whether a stage is for an emulator: `local` or `local-…`. It allows plain http, and deletes its data with the stack. */
export const isLocalStage = (stage: string): boolean => /^local(-|$)/.test(stage);

/**
 * A valid stage name. The names of the stack, its secrets, parameters and alarms contain it. CloudFormation may shorten a
 * stack's name to 25 characters in the names of functions, roles and rules, and policies name them by `Cosecha-<stage>-`:
 * 25 - 8 = 17.
 */
export const stagePattern = /^[a-z][a-z0-9-]{0,16}$/;

/** The stages that may have the probe as their provider. Their data is deleted with the stack. */
export const probeStagePattern = /^(local|accept(-[a-z0-9-]+)?)$/;

export const stackNameOf = (stage: string): string => `Cosecha-${stage}`;

/** The stack of the fake provider of a stage. */
export const fakeProviderStackNameOf = (stage: string): string => `${stackNameOf(stage)}-fake-provider`;

/** The stack of those who use a stage with a fake provider. */
export const readersStackNameOf = (stage: string): string => `${stackNameOf(stage)}-readers`;
