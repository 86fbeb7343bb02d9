/** The kinds of place that are searched, as the report names them, and what the suite leaves in each. */
export const locations = {
  'log group': 'an extraction',
  execution: 'an extraction',
  'state machine': 'the stack',
  table: 'an extraction',
  stream: 'an extraction',
  queue: 'an extraction',
  bucket: 'an extraction',
  function: 'the stack',
  stack: 'the stack',
  rule: 'the stack',
  secret: 'the stack',
  key: 'the stack',
  role: 'the stack',
  alarm: 'the stack',
  answer: 'an extraction',
  file: 'an extraction',
  "the emulator's state": 'an extraction',
} as const;

export type Location = keyof typeof locations;

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
