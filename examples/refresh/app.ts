import { App } from 'aws-cdk-lib';
import { RefreshStack } from './stack.ts';

const app = new App();
const [apiUrl, apiId]: unknown[] = ['apiUrl', 'apiId'].map((name) => app.node.tryGetContext(name));
if (typeof apiUrl !== 'string' || typeof apiId !== 'string') {
  throw new Error('Set apiUrl and apiId in cdk.json: the outputs ApiUrl and ApiId of Cosecha.');
}
new RefreshStack(app, { apiUrl, apiId });
