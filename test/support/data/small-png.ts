import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** PNG: https://www.w3.org/TR/png-3/ */
const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

const chunksOf = (png: Buffer): ReadonlyMap<string, Buffer> => {
  const chunks = new Map<string, Buffer>();
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    chunks.set(type, Buffer.concat([chunks.get(type) ?? Buffer.of(), data]));
    at += length + 12;
  }
  return chunks;
};

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  frame.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([frame, body, check]);
};

const paeth = (left: number, up: number, corner: number): number => {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
};

/** The bytes of the rows, of which each has a filter in front ("Filter types for filter method 0"). */
const unfiltered = (filtered: Buffer, height: number, stride: number, bytes: number): Buffer => {
  const rows = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < bytes ? 0 : (rows[at - bytes] ?? 0);
      const up = y === 0 ? 0 : (rows[at - stride] ?? 0);
      const corner = x < bytes || y === 0 ? 0 : (rows[at - stride - bytes] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      rows[at] = (filtered[y * (stride + 1) + 1 + x] ?? 0) + predicted;
    }
  }
  return rows;
};

const distance = (one: number, other: number): number =>
  [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 0xff) - ((other >> shift) & 0xff)) ** 2, 0);

/** The most frequent colours, and the index of the nearest one for each that there is. */
const paletteOf = (colours: Uint32Array) => {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 256)
    .map(([colour]) => colour);
  const nearest = (colour: number): number => {
    const distances = palette.map((one) => distance(one, colour));
    return distances.indexOf(Math.min(...distances));
  };
  return { palette, indexOf: new Map([...counts.keys()].map((colour) => [colour, nearest(colour)])) };
};

/** A screenshot with 256 colours at most, which takes a third of the bytes that Chromium's own takes. */
export const smallPng = (screenshot: Buffer): Buffer => {
  const chunks = chunksOf(screenshot);
  const header = Buffer.from(chunks.get('IHDR') ?? []);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  // Colour type 2 is RGB, and 6 RGBA. Both have 8 bits a sample here.
  const bytes = header[9] === 6 ? 4 : 3;
  const rows = unfiltered(inflateSync(chunks.get('IDAT') ?? Buffer.of()), height, width * bytes, bytes);
  const colours = Uint32Array.from({ length: width * height }, (_, index) =>
    rows.readUIntBE(index * bytes, 3),
  );
  const { palette, indexOf } = paletteOf(colours);
  const indexed = Buffer.alloc(height * (width + 1));
  for (const [index, colour] of colours.entries()) {
    indexed[Math.floor(index / width) * (width + 1) + 1 + (index % width)] = indexOf.get(colour) ?? 0;
  }
  // Colour type 3: an index into the palette.
  header[9] = 3;
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk(
      'PLTE',
      Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff])),
    ),
    chunk('IDAT', deflateSync(indexed, { level: 9, memLevel: 9 })),
    chunk('IEND', new Uint8Array()),
  ]);
};
