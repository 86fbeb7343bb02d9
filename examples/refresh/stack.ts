import { fileURLToPath } from 'node:url';
import { type App, CfnOutput, Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';

/** Refreshes the data of all users each morning. The context has `ApiUrl` and `ApiId`, outputs of Cosecha. */
export class RefreshStack extends Stack {
  constructor(app: App) {
    super(app, 'Refresh');
    const consents = new Table(this, 'Consents', {
      partitionKey: { name: 'user', type: AttributeType.STRING },
    });
    const refresh = new NodejsFunction(this, 'Refresh', {
      entry: fileURLToPath(new URL('handler.ts', import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      timeout: Duration.minutes(15),
      environment: { API_URL: app.node.getContext('apiUrl'), CONSENTS_TABLE: consents.tableName },
      bundling: { bundleAwsSDK: true },
    });
    consents.grantReadData(refresh);
    const route = `${app.node.getContext('apiId')}/$default/POST/extractions`;
    const resources = [this.formatArn({ service: 'execute-api', resource: route })];
    refresh.addToRolePolicy(new PolicyStatement({ actions: ['execute-api:Invoke'], resources }));
    // The same time in each retry, so that all tries of a day are one batch.
    const input = scheduler.ScheduleTargetInput.fromObject({
      time: scheduler.ContextAttribute.scheduledTime,
    });
    new scheduler.Schedule(this, 'EachMorning', {
      schedule: scheduler.ScheduleExpression.expression('cron(0 6 * * ? *)', TimeZone.AMERICA_SANTIAGO),
      target: new LambdaInvoke(refresh, { input }),
    });
    new CfnOutput(this, 'ConsentsTableName', { value: consents.tableName });
    new CfnOutput(this, 'RefreshFunctionName', { value: refresh.functionName });
  }
}
