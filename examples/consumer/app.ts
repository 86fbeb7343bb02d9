import { App } from 'aws-cdk-lib';
import { TotalsStack } from './stack.ts';

const app = new App();
const stage: unknown = app.node.tryGetContext('stage');
if (typeof stage !== 'string') throw new Error('Set the stage whose extractions to count in cdk.json.');
new TotalsStack(app, stage);
