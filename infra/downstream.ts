/** The module `@cosecha/cosecha/cdk`, for the CDK app of a service that reads the stream. */
export { ExtractionConsumer, type ExtractionConsumerProps } from './constructs/extraction-consumer.ts';
