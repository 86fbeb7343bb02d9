import { AsyncLocalStorage } from 'node:async_hooks';

/** The extractions of the running test. Tests of one file run concurrently. */
export const extractionsOfTest = new AsyncLocalStorage<Set<string>>();

/** Adds this extraction to the error message if the test fails. */
export const noteExtraction = (extractionId: string): void => {
  extractionsOfTest.getStore()?.add(extractionId);
};
