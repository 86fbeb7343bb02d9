/** The one extraction that a schedule is about. */
export const theExtraction = 'extraction-1';

/** One that has nothing to do with it, but for a task that the provider names to both. */
export const anotherExtraction = 'extraction-2';
