import { RemovalPolicy } from 'aws-cdk-lib';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import type { Config } from '../config.ts';

/** Data outlives its stack, except on the emulator, where `npm start` comes and goes. */
export const removalPolicy = (config: Config): RemovalPolicy =>
  isLocal(config) ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

/** Whether this is the stage that runs on an emulator. */
export const isLocal = (config: Config): boolean => config.stage === LOCAL_STAGE;
