/** The module `@cosecha/cosecha/cdk`: Cosecha as a construct, and the construct of a service that reads its stream. */

export type { Network } from './constructs/network-props.ts';
export { ExtractionConsumer, type ExtractionConsumerProps } from './constructs/stream/extraction-consumer.ts';
export { Cosecha, type CosechaProps } from './cosecha.ts';
export { ConfigError } from './settings/config-error.ts';
export type { CosechaSettings } from './settings/settings-type.ts';
