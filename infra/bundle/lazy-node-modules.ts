/**
 * Takes the place of `node:fs/promises` and `node:zlib` in the bundles. The SDK imports them for config files and for event streams,
 * which the functions do not have. Node takes some milliseconds to load them, here only if they are called.
 */
export const readFile = (path: string, encoding: 'utf8'): Promise<string> =>
  process.getBuiltinModule('node:fs/promises').readFile(path, encoding);

export const crc32 = (data: Uint8Array, value?: number): number =>
  process.getBuiltinModule('node:zlib').crc32(data, value);
