import { isAscii, isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import { GUESSED, type Losses, UnreadableError } from "./page.ts";
import { decodeWide, isWide, wideEncoding } from "./wide-text.ts";

/** Zero bytes after so many others are controls. */
const SAMPLE = 65_536;

/**
 * Decodes a text: by its mark, or else as UTF-8, as it declares, or by a guess that fits all its bytes.
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

/** Bytes to guess by, from the first that is not ASCII. */
const GUESSED_FROM = 16_384;

/** Each is tried. Of equally likely ones, an earlier one is preferred. */
const ENCODINGS = (
  "windows-1252 windows-1250 windows-1251 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-874 " +
  "iso-8859-2 iso-8859-5 koi8-r shift_jis euc-jp gb18030 big5 euc-kr"
).split(" ");

/** Encodings of the same languages, by those that the detector names for them. */
const ALSO: Record<string, string> = {
  "iso-8859-2": "windows-1250",
  "iso-8859-7": "windows-1253",
  "iso-8859-8": "windows-1255",
};

/** Points that a text of likely words adds to the detector's confidence, which is at most 100. */
const LIKELY_WORDS = 60;

/** Returns the most likely encoding that fits all bytes of a text; undefined if none does. */
function guessEncoding(bytes: Uint8Array): string | undefined {
  const from = bytes.findIndex((byte) => byte > 0x7f);
  const sample = bytes.subarray(from - Math.min(from, 200), from + GUESSED_FROM);
  const confidences = new Map<string, number>();
  for (const { name, confidence } of analyse(sample)) {
    const label = labelOf(name);
    if (!label) continue;
    for (const each of [label, ALSO[label] ?? label])
      confidences.set(each, Math.max(confidence, confidences.get(each) ?? 0));
  }
  const scored = ENCODINGS.flatMap((label) => {
    const text = decoded(sample, label, true);
    return text
      ? [{ label, score: (confidences.get(label) ?? 0) + LIKELY_WORDS * likelihood(text, label) }]
      : [];
  });
  scored.sort((a, b) => b.score - a.score);
  return scored.find(({ label }) => decoded(bytes, label, false) !== undefined)?.label;
}

function labelOf(name: string): string | undefined {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

/** Returns undefined if the bytes do not fit. Windows-1252 has no character for some, which become controls. */
function decoded(bytes: Uint8Array, label: string, isPart: boolean): string | undefined {
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: isPart });
    return /[\x80-\x9f]|\p{Co}/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

const WESTERN =
  "äöüß àâæçéèêëîïôœùûüÿ áéíóúüñ ãõáâàçéêíóôúü àèéìòóù àèéíòóúçïü éèëïöüçê åäöéü æøåéó áðéíóúþæö äöõüšž ëç";
const CENTRAL = "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţșț čćđšž äöüß";
/** Letters besides ASCII of each language in Latin script, by the encodings that are used for it. */
const ALPHABETS: Record<string, Set<string>[]> = {
  "windows-1252": alphabets(WESTERN),
  "windows-1250": alphabets(CENTRAL),
  "iso-8859-2": alphabets(CENTRAL),
  "windows-1254": alphabets("çğı\u0307öşüâîû"),
  "windows-1257": alphabets("ąčęėįšųūž āčēģīķļņšūž äöõüšž"),
};

function alphabets(letters: string): Set<string>[] {
  return letters.split(" ").map((alphabet) => new Set(alphabet));
}

const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Hebrew", "Arabic", "Thai", "Hangul"].map(
  (script) => new RegExp(`^\\p{Script=${script}}$`, "u"),
);
/** Characters of Japanese and Chinese stand side by side. */
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]$/u;
const scriptOf = (letter: string) =>
  EAST_ASIAN.test(letter) ? SCRIPTS.length : SCRIPTS.findIndex((script) => script.test(letter));

/** Signs that stand between letters only in a text that is decoded wrongly. */
const BROKEN = /\p{L}[^\p{L}\p{M}\p{N}\s\0-\x7f’‘·‐‑–—・、。，！？：；（）「」『』]\p{L}/gu;

/** Marks that stand on letters, without one. */
const STRAY = /[¨¯´¸ˇ˘˙˛˝]/g;

/** Returns from -1 to 1 how much the words of a text look like words of one language. */
function likelihood(text: string, label: string): number {
  const words = (text.replaceAll("µ", "u").match(/[\p{L}\p{M}]+/gu) ?? []).filter((word) => OTHER.test(word));
  const used = new Set(
    words
      .join("")
      .toLowerCase()
      .replace(/[\0-\x7f]/g, ""),
  );
  const isAlphabet = ALPHABETS[label]?.some((alphabet) => used.isSubsetOf(alphabet)) ?? false;
  const scores = words.map((word) => likelihoodOf(word, isAlphabet));
  const broken = 2 * (text.match(BROKEN)?.length ?? 0) + (text.match(STRAY)?.length ?? 0);
  const sum = scores.reduce((total, score) => total + score, 0) - broken;
  return Math.max(-1, sum / Math.max(1, words.length));
}

const OTHER = /[^\0-\x7f]/;
/**
 * Signs of a text without words: letters that only end words, or never begin one, elsewhere; a capital after a small letter. French has
 * `œ` before other letters than Polish has `ś`, the same byte.
 */
const MISPLACED = /^\p{M}|\p{M}{3}|[ςךםןףץ]\p{L}|^[ъыь]|\p{Ll}\p{Lu}|[\uff61-\uff9f]|[œŒ](?:$|[bklmprw])/u;
/** Signs of a text without words in Latin script: letters that are no words alone, many with marks, or hardly any other. */
const UNLIKELY =
  /^[^\0-\x7fàáâèéíóúåäöæøő]$|[^\0-\x7f]{3}|^[^\0-\x7f]{2,}$|^[^aeiouyàáâãäåæèéêëìíîïòóôõöøőùúûüűěąęė]{2}$/iu;

function likelihoodOf(word: string, isAlphabet: boolean): number {
  const scripts = new Set([...word.replace(/\p{M}/gu, "")].map(scriptOf));
  if (scripts.size !== 1 || scripts.has(-1) || MISPLACED.test(word)) return -1;
  if (scripts.has(0)) return UNLIKELY.test(word) ? -1 : isAlphabet ? 1 : 0;
  if (scripts.has(SCRIPTS.length)) return /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word) ? 1 : 0.3;
  return word.length > 1 ? 1 : 0;
}
