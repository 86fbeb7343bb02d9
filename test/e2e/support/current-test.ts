import { AsyncLocalStorage } from 'node:async_hooks';

/** The extractions of the test that is running; tests of one file run side by side. */
export const extractionsOfTest = new AsyncLocalStorage<Set<string>>();

/** Has the message name this extraction, should the test fail. */
export const noteExtraction = (extractionId: string): void => {
  extractionsOfTest.getStore()?.add(extractionId);
};
