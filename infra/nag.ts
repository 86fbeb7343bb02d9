import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Runs the AWS Solutions rules at every synth; a violation without a written reason beside its resource fails it. */
export const checkAwsSolutions = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
