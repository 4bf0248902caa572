import { isAscii, isUtf8 } from "node:buffer";
import { guessEncoding } from "./encoding-guess.ts";
import { GUESSED, type Losses, UnreadableError } from "./page.ts";
import { decodeWide, isWide, wideEncoding } from "./wide-text.ts";

/** Zero bytes after so many others are controls. */
const SAMPLE = 65_536;

/**
 * Decodes a text: by its mark, or else as UTF-8, as it declares, or by a guess that fits all its bytes.
 *
 * @param declared the encoding that the file itself names
 * @param losses gets an encoding that was guessed, and bytes that do not fit
 * @throws UnreadableError if it is not text
 */
export function decodeText(bytes: Uint8Array, declared: string | undefined, losses: Losses): string {
  const wide = wideEncoding(bytes);
  if (wide) {
    if (!isWide(bytes)) losses.add(GUESSED, wide);
    return decodeWide(bytes, wide);
  }
  if (bytes.subarray(0, SAMPLE).includes(0)) throw new UnreadableError("is not text: it contains zero bytes");
  if (isJapaneseInAscii(bytes)) return new TextDecoder("iso-2022-jp").decode(bytes);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  for (const label of declared === undefined ? ["utf-8"] : [declared, "utf-8"]) {
    const text = decodeMostly(bytes, label, losses);
    if (text !== undefined) return text;
  }
  const guessed = guessEncoding(bytes);
  if (!guessed)
    throw new UnreadableError(
      "is text in an unknown encoding: declare it, such as text/plain; charset=windows-1250",
    );
  losses.add(GUESSED, guessed);
  return new TextDecoder(guessed).decode(bytes);
}

/** Other letters for each byte that does not fit. */
const MOSTLY = 4;

/** Returns undefined if an encoding is unknown, or too many bytes do not fit. Those that do not are losses. */
function decodeMostly(bytes: Uint8Array, label: string, losses: Losses): string | undefined {
  let text: string;
  try {
    text = new TextDecoder(label).decode(bytes);
  } catch {
    return undefined;
  }
  const unfit = text.split("\ufffd").length - 1;
  const others = text.length - text.replace(/[^\0-\x7f\ufffd]/g, "").length;
  if (unfit * MOSTLY > others) return undefined;
  if (unfit) losses.add("byte that is not text", label, unfit);
  return text;
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
