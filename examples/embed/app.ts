import { Cosecha } from '@cosecha/cosecha/cdk';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';

const app = new App();
const stack = new Stack(app, 'Banking');
const bank = new Cosecha(stack, 'Bank', {
  stage: app.node.tryGetContext('stage'),
  providerBaseUrl: app.node.tryGetContext('providerBaseUrl'),
});

// The role of the service that requests extractions. In this example, everybody in the account may assume it.
const orders = new Role(stack, 'Orders', { assumedBy: new AccountRootPrincipal() });
bank.grantRequestExtractions(orders);
new CfnOutput(stack, 'OrdersRoleArn', { value: orders.roleArn });
