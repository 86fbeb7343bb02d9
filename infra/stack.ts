import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { stackNameOf } from '../lib/aws/stage.ts';
import type { Config } from './config.ts';
import { Cosecha } from './cosecha.ts';
import type { FunctionCode } from './function-names.ts';

/** All of Cosecha in one stack named `Cosecha-<stage>`. It is bound to no account and no region. */
export class CosechaStack extends Stack {
  constructor(scope: Construct, config: Config, code: FunctionCode) {
    super(scope, stackNameOf(config.stage), {
      description: 'Cosecha: starts extractions of financial data and never loses an outcome',
    });
    // CDK leaves the id `Default` out of logical ids, so that outputs and resources have plain names here.
    new Cosecha(this, 'Default', config, { config, code });
  }
}
