/** Where something is kept, in the words of whoever reads that something leaked there. */
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

/** What is kept there under one name, whole. */
export type SearchedItem = { readonly location: Location; readonly name: string; readonly bytes: Buffer };

/** A piece of anything that an API answers with; bytes in it are written as base64, which the search decodes. */
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
