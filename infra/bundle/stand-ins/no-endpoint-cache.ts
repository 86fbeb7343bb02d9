/**
 * Stands in for `@aws-sdk/endpoint-cache`. DynamoDB's client makes one for endpoint discovery, which is off unless
 * AWS_ENABLE_ENDPOINT_DISCOVERY or a profile turns it on; then nothing ever calls it. The real one brings an LRU cache
 * and a library of iterators, 8 KB.
 */
export class EndpointCache {}
