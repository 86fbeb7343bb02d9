/** The consumer of the stream fails on extractions with this reference, so that their records reach its failure bucket. */
export const failingReference = 'acceptance: the consumer fails on this one';
