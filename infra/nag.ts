import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Runs the AWS Solutions rules at every synthesis, which fails on a violation that no resource acknowledges with a reason. */
export const checkAwsSolutions = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
