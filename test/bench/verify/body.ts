/** A body, as the received bytes and as the text that most libraries expect. Decoding is not timed. */
export type Body = { readonly bytes: Buffer; readonly text: string };

/** A typical delivery, one of 2 KB, and one of four times the webhook's limit. */
export const bodySizes = [120, 2_048, 65_536] as const;

/** A delivery of so many bytes of JSON. A field pads it. */
export const bodyOf = (bytes: number, task: 'this' | 'that'): Body => {
  const delivery = { taskId: `4f1c9a52-6d0e-4b7a-9a53-${task}`, taskStatus: 'COMPLETED', filler: '' };
  const filler = 'x'.repeat(bytes - JSON.stringify(delivery).length);
  const text = JSON.stringify({ ...delivery, filler });
  return { bytes: Buffer.from(text), text };
};
