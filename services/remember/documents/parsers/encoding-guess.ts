import { analyse } from "chardet";

/** Bytes to guess by, from the first that is not ASCII. */
const SAMPLE = 16_384;

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
export function guessEncoding(bytes: Uint8Array): string | undefined {
  const from = bytes.findIndex((byte) => byte > 0x7f);
  const sample = bytes.subarray(from - Math.min(from, 200), from + SAMPLE);
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
