/** The reader of the probe fails on extractions with this reference, so that their records reach its failure bucket. */
export const failingReference = 'cosecha accept: the reader fails on this one';
