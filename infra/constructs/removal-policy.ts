import { RemovalPolicy } from 'aws-cdk-lib';
import { isLocalStage } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';

/**
 * Data outlives its stack, except on the emulator and where the provider is a fake, as both come and go. What a
 * failed creation made goes with it (`RetainExceptOnCreate`): it is empty, and a secret that stayed would keep its fixed
 * name from the next try.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export const removalPolicy = (config: Config): RemovalPolicy =>
  isDisposable(config) ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/**
 * Tables also outlive a failed creation. Their deletion protection refuses the deletion, so that the rollback itself
 * would fail; left alone they block nothing, as their names are generated.
 */
export const tableRemovalPolicy = (config: Config): RemovalPolicy =>
  isDisposable(config) ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

/** Whether the stage never has data that matters. Of stages on AWS, only a fake provider decides it, not the name. */
export const isDisposable = (config: Config): boolean => isLocal(config) || config.hasFakeProvider === true;

/** Whether this stage runs on the emulator to which its template is adapted. */
export const isLocal = (config: Config): boolean =>
  isLocalStage(config.stage) && config.onCompleteEmulator !== true;
