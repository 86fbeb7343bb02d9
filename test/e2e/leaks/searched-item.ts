/** A kind of place that is searched, as the report names it. */
export type Location =
  | 'log group'
  | 'execution'
  | 'state machine'
  | 'table'
  | 'stream'
  | 'queue'
  | 'bucket'
  | 'function'
  | 'stack'
  | 'rule'
  | 'secret'
  | 'key'
  | 'role'
  | 'alarm'
  | 'answer'
  | 'file'
  | "the emulator's state";

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
