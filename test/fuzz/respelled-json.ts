import type { Json } from './generators/extraction-request.ts';

/**
 * The value as another JSON text: members in another order, letters as escapes or in another normal form of Unicode, spaces in
 * between.
 */
export const respelled = (value: Json, escapes: boolean, form?: 'NFC' | 'NFD'): string => {
  const written = (one: string): string => (form === undefined ? one : one.normalize(form));
  const text = (part: Json): string => {
    if (typeof part === 'string' && escapes) {
      const units = written(part);
      return `"${Array.from({ length: units.length }, (_, at) => `\\u${units.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
    }
    if (Array.isArray(part)) return `[ ${part.map((item: Json) => text(item)).join(' , ')} ]`;
    // The same number, spelled as nobody's serializer spells it.
    if (typeof part === 'number' && escapes) return JSON.stringify(part).replace(/^(-?\d+)$/, '$1.0e-0');
    if (typeof part === 'string') return JSON.stringify(written(part));
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const members = Object.entries(part).reverse();
    return `{ ${members.map(([name, member]) => `${JSON.stringify(written(name))} : ${text(member as Json)}`).join(' ,\n')} }`;
  };
  return text(value).replaceAll('"@proto" :', '"__proto__" :');
};

/** A value in which equal texts are equal in every normal form of Unicode. Fields are a sorted list, as two names may become one. */
export const inOneForm = (value: unknown): unknown => {
  if (typeof value === 'string') return value.normalize('NFC');
  if (Array.isArray(value)) return value.map(inOneForm);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map((field) => JSON.stringify(inOneForm(field)));
  return { fields: fields.toSorted() };
};
