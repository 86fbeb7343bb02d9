/**
 * Replaces `@aws-sdk/endpoint-cache`. DynamoDB's client creates one for endpoint discovery and calls it only if
 * AWS_ENABLE_ENDPOINT_DISCOVERY or a profile switches that on. The real one contains an LRU cache and a library of
 * iterators, 8 KB.
 */
export class EndpointCache {}
