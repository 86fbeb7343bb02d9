/** The module `@cosecha/cosecha/cdk`: Cosecha as a construct, and the construct of a service that reads its stream. */
export { ConfigError } from './config-error.ts';
export { ExtractionConsumer, type ExtractionConsumerProps } from './constructs/extraction-consumer.ts';
export type { Network } from './constructs/network-props.ts';
export { Cosecha, type CosechaProps } from './cosecha.ts';
export type { CosechaSettings } from './settings-type.ts';
