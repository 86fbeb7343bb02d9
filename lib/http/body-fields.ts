import * as v from 'valibot';

/** Fields that the bodies of several routes are made of. No sentence repeats a value. */

export const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `must have at most ${max} characters`),
  );

/** An object with these fields and no others; every other one is a violation, not only the first. */
export const closedObject = <Entries extends v.ObjectEntries>(entries: Entries, message: string) =>
  v.objectWithRest(entries, v.never('is not a known field'), message);
