import { inspect } from 'node:util';

/** All text of an error and its causes that a log or a history might contain. */
export const errorText = (error: unknown): string => inspect(error, { depth: null, maxStringLength: null });
