import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import {
  ContextAttribute,
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Construct } from 'constructs';

/** Refreshes the data of all users at six each morning, under the consents that they gave. */
export class RefreshStack extends Stack {
  constructor(scope: Construct, { apiUrl, apiId }: { readonly apiUrl: string; readonly apiId: string }) {
    super(scope, 'Refresh', { description: 'Refreshes data each morning: an example of batches of Cosecha' });
    const consents = new Table(this, 'Consents', {
      partitionKey: { name: 'user', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    const refresh = new NodejsFunction(this, 'Refresh', {
      entry: fileURLToPath(new URL('handler.ts', import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      memorySize: 512,
      // At 50 requests a second, 10,000 take 200 s.
      timeout: Duration.minutes(15),
      environment: { API_URL: apiUrl, CONSENTS_TABLE: consents.tableName },
      bundling: { minify: true, bundleAwsSDK: true },
    });
    consents.grant(refresh, 'dynamodb:Scan');
    const route = (name: string) =>
      this.formatArn({ service: 'execute-api', resource: apiId, resourceName: `$default/${name}` });
    refresh.addToRolePolicy(
      new PolicyStatement({ actions: ['execute-api:Invoke'], resources: [route('POST/extractions')] }),
    );
    new Schedule(this, 'EachMorning', {
      schedule: ScheduleExpression.cron({ hour: '6', minute: '0', timeZone: TimeZone.AMERICA_SANTIAGO }),
      // The same in each retry, so that all tries of a day are one batch.
      target: new LambdaInvoke(refresh, {
        input: ScheduleTargetInput.fromObject({ time: ContextAttribute.scheduledTime }),
      }),
    });
    new CfnOutput(this, 'ConsentsTableName', { value: consents.tableName });
    new CfnOutput(this, 'RefreshFunctionName', { value: refresh.functionName });
  }
}
