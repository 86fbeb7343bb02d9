/** One body, as bytes off the wire and as the text that most libraries ask for: decoding it is not timed. */
export type Body = { readonly bytes: Buffer; readonly text: string };

/** A delivery as it mostly is, one of 2 KB, and four times what the webhook takes. */
export const bodySizes = [120, 2_048, 65_536] as const;

/** JSON of that many bytes: a delivery for one task or another, and a field that fills it up. */
export const bodyOf = (bytes: number, task: 'this' | 'that'): Body => {
  const delivery = { taskId: `4f1c9a52-6d0e-4b7a-9a53-${task}`, taskStatus: 'COMPLETED', filler: '' };
  const filler = 'x'.repeat(bytes - JSON.stringify(delivery).length);
  const text = JSON.stringify({ ...delivery, filler });
  return { bytes: Buffer.from(text), text };
};
