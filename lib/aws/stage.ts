/** The stage of `npm start`. */
export const LOCAL_STAGE = 'local';

/** Whether a stage is for an emulator: `local` or `local-…`. It allows plain http, and deletes its data with the stack. */
export const isLocalStage = (stage: string): boolean => /^local(-|$)/.test(stage);

/**
 * The form of a stage name. The names of the stack, its secrets, parameters and alarms contain it. It has at most 17 characters:
 * CloudFormation may shorten the stack's name to 25 in names of functions, roles and rules, and policies refer to these by
 * `Cosecha-<stage>-`. 25 - 8 = 17.
 */
export const stagePattern = /^[a-z][a-z0-9-]{0,16}$/;

/** The stages that may have a fake provider. Their data is deleted with the stack. */
export const disposableStagePattern = /^(local|accept(-[a-z0-9-]+)?)$/;

export const stackNameOf = (stage: string): string => `Cosecha-${stage}`;
