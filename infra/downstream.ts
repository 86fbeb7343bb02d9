/** What the CDK app of a service that reads the stream imports as `cosecha/cdk`. */
export { ExtractionConsumer, type ExtractionConsumerProps } from './constructs/extraction-consumer.ts';
