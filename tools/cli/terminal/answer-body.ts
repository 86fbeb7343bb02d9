/** Ends a body of which nothing is read. It may have been broken off since the status came, which decides. */
export const discardBody = async ({ body }: Pick<Response, 'body'>): Promise<void> => {
  await body?.cancel().catch(() => {});
};

/** Enough for a message, and less than a page of HTML. */
const maxShown = 200;

/** The beginning of a body in one line, with a colon and a space before it. Empty without a body. Never throws, and reads no further. */
export const showBody = async ({ body }: Pick<Response, 'body'>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop cancels the rest.
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.byteLength;
      // A character has four bytes at most.
      if (size >= 4 * maxShown) break;
    }
  } catch {
    // What came before it broke is shown.
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks)).replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `: ${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`;
};
