import { fileURLToPath } from 'node:url';
import { ExtractionConsumer } from '@cosecha/cosecha/cdk';
import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';

/** Counts extractions and their bytes by day, source and outcome. */
export class TotalsStack extends Stack {
  readonly consumer: ExtractionConsumer;

  constructor(scope: Construct, stage: string) {
    super(scope, `Totals-${stage}`, {
      description: 'Totals of extractions: an example of a consumer of Cosecha',
    });
    const totals = new Table(this, 'Totals', {
      partitionKey: { name: 'day', type: AttributeType.STRING },
      sortKey: { name: 'sourceAndOutcome', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    const entries = new Table(this, 'Entries', {
      partitionKey: { name: 'extractionId', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    const count = new NodejsFunction(this, 'Count', {
      entry: fileURLToPath(new URL('handler.ts', import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // A batch of 100 takes about 3 s: a read and a transaction of some 15 ms each.
      timeout: Duration.seconds(30),
      environment: { TOTALS_TABLE: totals.tableName, ENTRIES_TABLE: entries.tableName },
      bundling: { minify: true, bundleAwsSDK: true },
    });
    entries.grant(count, 'dynamodb:GetItem', 'dynamodb:PutItem');
    totals.grant(count, 'dynamodb:UpdateItem');

    this.consumer = new ExtractionConsumer(this, 'Consumer', { stage, handler: count });

    new CfnOutput(this, 'TotalsTableName', { value: totals.tableName });
    new CfnOutput(this, 'CountFunctionName', { value: count.functionName });
  }
}
