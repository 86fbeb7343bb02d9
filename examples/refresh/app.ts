import { App } from 'aws-cdk-lib';
import { RefreshStack } from './stack.ts';

new RefreshStack(new App());
