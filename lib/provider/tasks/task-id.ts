import { taskIdLength } from '../assumptions.ts';

/**
 * Whether a value can be a taskId: 1 to 100 characters ("Limits") that fit into a path. A lone surrogate cannot be
 * encoded, and `.` and `..` lead to other paths.
 */
export const isTaskId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= taskIdLength.min &&
  value.length <= taskIdLength.max &&
  value.isWellFormed() &&
  value !== '.' &&
  value !== '..';
