/** The one extraction that a schedule is about. */
export const theExtraction = 'extraction-1';
