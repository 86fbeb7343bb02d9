import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigError } from './settings/config-error.ts';

/**
 * Runs a CDK app, which is synthesized when the process ends. A ConfigError is printed as its sentences, and ends the process
 * with 1. The AWS Solutions rules run at every synthesis, which fails on a violation that no resource acknowledges with a
 * reason.
 */
export const runApp = async (addStacks: (app: App) => Promise<void>): Promise<void> => {
  const app = new App();
  try {
    await addStacks(app);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
