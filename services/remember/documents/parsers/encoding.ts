import { isAscii, isUtf8 } from "node:buffer";
import { detect } from "chardet";
import { GUESSED, type Losses, UnreadableError } from "./page.ts";

/** Enough bytes to guess an encoding. */
const SAMPLE = 65_536;

/**
 * @param declared the encoding that the file itself names
 * @param losses gets an encoding that was guessed
 * @throws UnreadableError if it is not text
 */
export function decodeText(bytes: Uint8Array, declared: string | undefined, losses: Losses): string {
  const marked = byMark(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  if (bytes.subarray(0, SAMPLE).includes(0)) throw new UnreadableError("is not text: it contains zero bytes");
  if (isJapaneseInAscii(bytes)) return new TextDecoder("iso-2022-jp").decode(bytes);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const known = declared === undefined ? null : decoderOf(declared);
  if (known) return known.decode(bytes);
  const decoder = decoderOf(detect(bytes.subarray(0, SAMPLE)) ?? "") ?? new TextDecoder("windows-1252");
  losses.add(GUESSED, decoder.encoding);
  return decoder.decode(bytes);
}

function byMark([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}

/** Returns null for an unknown encoding. */
function decoderOf(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** Detects ISO 2022-JP: each character is two letters, between escape sequences. */
function isJapaneseInAscii(bytes: Uint8Array): boolean {
  if (!isAscii(bytes)) return false;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes("\u001b$B") || text.includes("\u001b$@");
}

/** Bytes to look for a declaration in: it may stand after long scripts. */
const DECLARED_WITHIN = 65_536;

/** Reads an XML declaration, `<meta charset="…">` or its older form, like browsers. */
export function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARED_WITHIN)).toString("latin1");
  const xml = /^\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)["']/i.exec(head)?.[1];
  return xml ?? /<meta\b[^>]{1,300}?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1];
}
