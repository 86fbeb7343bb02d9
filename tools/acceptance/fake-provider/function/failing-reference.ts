/** The reader of the stream fails on extractions with this reference, so that their records reach its failure bucket. */
export const failingReference = 'acceptance: the reader fails on this one';
