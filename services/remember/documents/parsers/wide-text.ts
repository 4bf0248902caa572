/** Encodings of two or four bytes for each unit. */
type WideEncoding = "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";

/** Longest first: the mark of UTF-32 begins with that of UTF-16. */
const MARKS: [WideEncoding | "utf-8", string][] = [
  ["utf-32le", "\u00ff\u00fe\0\0"],
  ["utf-32be", "\0\0\u00fe\u00ff"],
  ["utf-8", "\u00ef\u00bb\u00bf"],
  ["utf-16le", "\u00ff\u00fe"],
  ["utf-16be", "\u00fe\u00ff"],
];

const SAMPLE = 65_536;

/** Whether a file begins with the mark of UTF-16 or UTF-32. */
export const isWide = (bytes: Uint8Array) => marked(bytes) !== undefined;

function marked(bytes: Uint8Array): WideEncoding | undefined {
  const head = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  const encoding = MARKS.find(([, mark]) => head.startsWith(mark))?.[0];
  return encoding === "utf-8" ? undefined : encoding;
}

/**
 * Returns UTF-16 or UTF-32, by a mark or by its zero bytes; undefined for other encodings, and for what is no text.
 */
export function wideEncoding(bytes: Uint8Array): WideEncoding | undefined {
  const known = marked(bytes);
  const sample = bytes.subarray(0, SAMPLE);
  if (known || !sample.includes(0)) return known;
  if (isNarrow(sample)) return undefined;
  const zeros = [0, 0, 0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 4] = (zeros[at % 4] as number) + 1;
  const [first, second, third, fourth] = zeros as [number, number, number, number];
  const units = Math.floor(sample.length / 4);
  const candidates: WideEncoding[] = [
    ...(bytes.length % 4 === 0 && third + fourth > units ? (["utf-32le"] as const) : []),
    ...(bytes.length % 4 === 0 && first + second > units ? (["utf-32be"] as const) : []),
    ...(bytes.length % 2 === 0
      ? ([second + fourth >= first + third ? "utf-16le" : "utf-16be"] as const)
      : []),
  ];
  return candidates.find((encoding) => isText(decodeWide(sample, encoding)));
}

/** In UTF-16 half the bytes of ASCII are zero, and many of those of other scripts are no letters of ASCII. */
const LEAST_ZEROS = 0.2;
const LEAST_OTHERS = 0.1;

/** Whether it is ASCII with a few zero bytes. */
function isNarrow(sample: Uint8Array): boolean {
  const zeros = sample.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);
  const others = sample.reduce((sum, byte) => sum + (byte > 0x7e || (byte > 0 && byte < 9) ? 1 : 0), 0);
  return zeros < LEAST_ZEROS * sample.length && others < LEAST_OTHERS * sample.length;
}

/** Whether a text has no controls, and nothing that is no character. */
const isText = (text: string) => text !== "" && !/[^\P{C}\p{Cf}\t\n\f\r]|\ufffd/u.test(text);

export function decodeWide(bytes: Uint8Array, encoding: WideEncoding): string {
  if (encoding === "utf-16le" || encoding === "utf-16be") return new TextDecoder(encoding).decode(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, encoding === "utf-32le");
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    parts.push(isCharacter ? String.fromCodePoint(code) : "\ufffd");
  }
  return parts.join("").replace(/^\ufeff/, "");
}
