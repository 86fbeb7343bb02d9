/** The kinds of place that are searched, as the report names them. In each the suite leaves something of every extraction. */
export const locations = [
  'log group',
  'execution',
  'table',
  'stream',
  'queue',
  'bucket',
  'answer',
  'file',
  "the emulator's state",
] as const;

export type Location = (typeof locations)[number];

/** The whole content of one name in a location. */
export type SearchedItem = { readonly location: Location; readonly name: string; readonly bytes: Buffer };

/** An item of an API's answer. Bytes in it become base64, which the search decodes. */
export const itemOf = (location: Location, name: string, content: unknown): SearchedItem => ({
  location,
  name,
  bytes: Buffer.from(
    typeof content === 'string'
      ? content
      : JSON.stringify(content, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
        ),
  ),
});
