/** The first eight and the last six digits. A UUID of version 7 starts with its time, which is the same for several. */
export const shortId = (extractionId: string): string =>
  `${extractionId.slice(0, 8)}…${extractionId.slice(-6)}`;

/** An id by its beginning, or as `shortId` writes it and as somebody types that. */
const form = /^([0-9a-f]{8}[0-9a-f-]{0,27})(?:(?:…|\.{2,3})([0-9a-f]{6}))?$/i;

type Shortened = { readonly first: string; readonly last: string | undefined };

/** The beginning of an id, and its end if the text has both. Undefined for any other text. */
export const parseShortId = (text: string): Shortened | undefined => {
  const [, first, last] = form.exec(text.toLowerCase()) ?? [];
  return first === undefined ? undefined : { first, last };
};

export const isShortOf = ({ first, last = '' }: Shortened, extractionId: string): boolean =>
  extractionId.startsWith(first) && extractionId.endsWith(last);
