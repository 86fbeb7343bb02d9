/** Where something is kept, in the words of whoever reads that something leaked there. */
export type Place =
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
export type Piece = { readonly place: Place; readonly name: string; readonly bytes: Buffer };

/** A piece of anything that an API answers with; bytes in it are written as base64, which the search decodes. */
export const pieceOf = (place: Place, name: string, content: unknown): Piece => ({
  place,
  name,
  bytes: Buffer.from(
    typeof content === 'string'
      ? content
      : JSON.stringify(content, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
        ),
  ),
});
