import { fileURLToPath } from 'node:url';
import { type App, CfnOutput, Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { type Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Topic } from 'aws-cdk-lib/aws-sns';

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
      memorySize: 512,
      timeout: Duration.minutes(15),
      environment: { API_URL: app.node.getContext('apiUrl'), CONSENTS_TABLE: consents.tableName },
      bundling: { bundleAwsSDK: true },
    });
    consents.grant(refresh, 'dynamodb:Scan', 'dynamodb:UpdateItem');
    const routes = ['POST/extractions', 'GET/extractions'].map((route) =>
      this.formatArn({
        service: 'execute-api',
        resource: `${app.node.getContext('apiId')}/$default/${route}`,
      }),
    );
    refresh.addToRolePolicy(new PolicyStatement({ actions: ['execute-api:Invoke'], resources: routes }));
    // The same time in each retry, so that all tries of a day are one batch.
    const input = scheduler.ScheduleTargetInput.fromObject({
      time: scheduler.ContextAttribute.scheduledTime,
    });
    new scheduler.Schedule(this, 'EachMorning', {
      schedule: scheduler.ScheduleExpression.expression('cron(0 6 * * ? *)', TimeZone.AMERICA_SANTIAGO),
      target: new LambdaInvoke(refresh, { input }),
    });
    // The README has the command that subscribes a person.
    const failures = new Topic(this, 'Failures');
    const notify = (alarm: Alarm): void => alarm.addAlarmAction(new SnsAction(failures));
    const period = Duration.hours(1);
    const options = { evaluationPeriods: 1, threshold: 1 };
    notify(
      refresh.metricErrors({ period }).createAlarm(this, 'Failed', {
        ...options,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        alarmDescription: 'A morning failed, and is tried three times. The log of the function has why.',
      }),
    );
    notify(
      refresh.metricInvocations({ period: Duration.days(1) }).createAlarm(this, 'Missed', {
        ...options,
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
        alarmDescription: 'A day passed without a morning: the schedule is disabled, or may not invoke.',
      }),
    );
    new CfnOutput(this, 'ConsentsTableName', { value: consents.tableName });
    new CfnOutput(this, 'RefreshFunctionName', { value: refresh.functionName });
    new CfnOutput(this, 'FailuresTopicArn', { value: failures.topicArn });
  }
}
