import { taskIdLength } from '../assumptions.ts';

/**
 * Whether a text can be a taskId: 1 to 100 characters ("Limits"), and fit to stand in the path it is read under.
 * A lone surrogate cannot be encoded, and `.` and `..` name other paths.
 */
export const isTaskId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= taskIdLength.min &&
  value.length <= taskIdLength.max &&
  value.isWellFormed() &&
  value !== '.' &&
  value !== '..';
