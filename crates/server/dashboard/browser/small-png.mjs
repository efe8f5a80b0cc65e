// A picture of a page in few bytes: with a palette of at most 256 colours, which is all that a page has but for the edges of letters.
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOURS = 128;

/** The same picture with a palette. Takes what Chromium writes: 8 bits, no interlace. */
export function small(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = paletteOf([...counts]);
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const colours = Buffer.from(palette.flatMap(parts));
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('PLTE', colours), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

/** Width, height and a number 0xRRGGBB per pixel. */
function decode(png) {
  const data = [];
  let header;
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const [type, body] = [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at))];
    if (type === 'IHDR') header = body;
    if (type === 'IDAT') data.push(body);
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bytes = { 2: 3, 6: 4 }[header[9]];
  if (header[8] !== 8 || !bytes || header[12] !== 0) throw new Error('not a picture as Chromium writes it');
  const raw = inflateSync(Buffer.concat(data));
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(width * bytes);
  for (let y = 0; y < height; y += 1) {
    const start = y * (width * bytes + 1);
    const row = unfiltered(raw[start], raw.subarray(start + 1, start + 1 + width * bytes), above, bytes);
    for (let x = 0; x < width; x += 1) pixels[y * width + x] = (row[x * bytes] << 16) | (row[x * bytes + 1] << 8) | row[x * bytes + 2];
    above = row;
  }
  return { width, height, pixels };
}

function unfiltered(filter, line, above, bytes) {
  const row = Uint8Array.from(line);
  for (let i = 0; i < row.length; i += 1) {
    const [left, up, corner] = [i < bytes ? 0 : row[i - bytes], above[i], i < bytes ? 0 : above[i - bytes]];
    row[i] += [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter];
  }
  return row;
}

function paeth(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** The most frequent colours as they are, since surfaces must not change, and the rest in boxes of like ones. */
function paletteOf(counted) {
  const byCount = counted.toSorted(([, a], [, b]) => b - a);
  const own = byCount.slice(0, COLOURS / 2).map(([colour]) => colour);
  let boxes = [byCount.slice(COLOURS / 2)].filter((box) => box.length > 0);
  while (own.length + boxes.length < COLOURS) {
    const widest = boxes.map(spread).reduce((best, one, i) => (one.by > (best?.by ?? 0) ? { ...one, i } : best), null);
    if (!widest) break;
    const sorted = boxes[widest.i].toSorted(([a], [b]) => parts(a)[widest.part] - parts(b)[widest.part]);
    boxes = boxes.toSpliced(widest.i, 1, sorted.slice(0, sorted.length >> 1), sorted.slice(sorted.length >> 1));
  }
  return [...own, ...boxes.map(mean)];
}

/** In which part the colours of a box differ the most, weighed by how many there are. */
function spread(box) {
  const ranges = [0, 1, 2].map((part) => {
    const values = box.map(([colour]) => parts(colour)[part]);
    return Math.max(...values) - Math.min(...values);
  });
  const by = Math.max(...ranges);
  return { part: ranges.indexOf(by), by: by * Math.sqrt(box.length) };
}

function mean(box) {
  const all = box.reduce((sum, [, n]) => sum + n, 0);
  const [r, g, b] = [0, 1, 2].map((part) => Math.round(box.reduce((sum, [colour, n]) => sum + parts(colour)[part] * n, 0) / all));
  return (r << 16) | (g << 8) | b;
}

function nearest(palette, colour) {
  const wanted = parts(colour);
  let [best, place] = [Infinity, 0];
  palette.forEach((one, i) => {
    const far = parts(one).reduce((sum, part, k) => sum + (part - wanted[k]) ** 2, 0);
    if (far < best) [best, place] = [far, i];
  });
  return place;
}

function chunk(type, body) {
  const said = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const whole = Buffer.alloc(said.length + 8);
  whole.writeUInt32BE(body.length, 0);
  said.copy(whole, 4);
  whole.writeUInt32BE(crc(said), said.length + 4);
  return whole;
}

function crc(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
