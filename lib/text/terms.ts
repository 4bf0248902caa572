import { stemmer } from "stemmer";
import { CHINESE_QUESTIONS, IRREGULAR_FORMS, STOP_WORDS } from "./languages.ts";

/** Raised when a text's terms or signs change, so that older indexes are rebuilt. */
export const TERMS_VERSION = 11;

/** Longer words are cut, to keep them out of the index. */
export const MAX_WORD = 40;
/** Cached stems; enough for the everyday words of a language. */
const MAX_REMEMBERED = 20_000;

export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Latin accents, and the points of Hebrew, which few write. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+/g;
/** Removed endings ("it's") and, with "not", whole words ("don't"). */
const ENGLISH_CONTRACTIONS = /\b[a-z]+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b/g;
/** Latin letters that are not accented English ones, with their usual transcription. */
const LATIN_LETTERS: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ı: "i" };
const OTHER_LATIN = /[ßæœøłđı]/g;
/** Letters that keyboards write in two ways, and the stretcher of words, which is no letter. */
const ARABIC_LETTERS: Record<string, string> = { ي: "ی", ى: "ی", ك: "ک", "\u0640": "" };
const OTHER_ARABIC = /[يىك\u0640]/g;
/** Scripts without spaces between words, and Korean, which has none before particles. */
const LETTERS =
  "\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const UNSPACED = new RegExp(`[${LETTERS}]`, "u");
/** Divides a word into runs inside and outside these scripts, which are not separated by spaces. */
const RUNS = new RegExp(`[${LETTERS}][${LETTERS}\\p{M}]*|[^${LETTERS}]+`, "gu");
const HEBREW = /^\p{Script=Hebrew}+$/u;
/** Words that Hebrew joins to the next (and, the, in, to, from, that, as), and plural endings: three letters stay. */
const HEBREW_PREFIXES = /^[והבלמשכ]{1,4}(?=\p{L}{3})/u;
const HEBREW_PLURAL = /(?<=\p{L}{3})(?:ים|ות)$/u;
const FINAL_LETTERS: Record<string, string> = { ך: "כ", ם: "מ", ן: "נ", ף: "פ", ץ: "צ" };
const stems = new Map<string, string>();

/** Soft hyphens, joiners, zero-width spaces, marks of direction: no reader sees them (Unicode's own list). */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Removes characters that are never seen: they neither divide nor join words. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, "");
}

/** A word of a text that `fold` returned, and where it begins. */
export interface Word {
  word: string;
  at: number;
  isStop: boolean;
}

/**
 * Returns the terms of a text for search: its words in order, without case, accents, endings and stop words. Words of
 * scripts without spaces, and of Korean, become pairs of characters; a single character stays.
 */
export function terms(text: string): string[] {
  return toTerms(splitWords(fold(text)));
}

/** Returns the words of a text that `fold` returned. */
export function splitWords(folded: string): Word[] {
  const words: Word[] = [];
  for (const { 0: whole, index } of folded.matchAll(WORD))
    for (const { word, at } of inScripts(whole))
      words.push({ word, at: index + at, isStop: STOP_WORDS.has(word) });
  return words;
}

const LATIN = /^[\p{Script=Latin}\p{N}\p{M}]*$/u;
/** Scripts with spaces between words. Others, digits and marks belong to what is before them. */
const SPACED = "Latin Cyrillic Greek Hebrew Arabic Armenian Georgian Devanagari Ethiopic"
  .split(" ")
  .map((name) => ({ name, pattern: new RegExp(`^\\p{Script=${name}}`, "u") }));

/** Returns the script of a letter; "" for a digit, a sign and what no word is divided at. */
const scriptOf = (letter: string) =>
  UNSPACED.test(letter) ? "unspaced" : (SPACED.find(({ pattern }) => pattern.test(letter))?.name ?? "");

/** Divides a word where its script changes: Hebrew and Arabic write prefixes at a Latin word without a space. */
function inScripts(word: string): { word: string; at: number }[] {
  if (LATIN.test(word)) return [{ word, at: 0 }];
  const parts: { word: string; at: number }[] = [];
  let script = "";
  for (const { 0: letter, index } of word.matchAll(/\P{M}\p{M}*/gu)) {
    const own = scriptOf(letter);
    const last = parts.at(-1);
    // Scripts without spaces are divided later, with their neighbours (RUNS).
    const isOne =
      own === "" || script === "" || own === script || own === "unspaced" || script === "unspaced";
    if (last && isOne) last.word += letter;
    else parts.push({ word: letter, at: index });
    script = own || script;
  }
  return parts;
}

export function toTerms(words: readonly Word[]): string[] {
  const terms: string[] = [];
  for (const { word, isStop } of words) {
    if (isStop) continue;
    if (!UNSPACED.test(word)) terms.push(stem(word));
    else for (const run of word.match(RUNS) ?? []) addRun(run, terms);
  }
  return terms;
}

function addRun(run: string, terms: string[]): void {
  if (UNSPACED.test(run)) for (const part of run.split(CHINESE_QUESTIONS)) terms.push(...pairs(part));
  else if (!STOP_WORDS.has(run)) terms.push(stem(run));
}

/** Bits for the form of a text, which ranking compares with the question. */
export const SIGN_ASKS = 1;
export const SIGN_TELLS_TIME = 2;
export const SIGN_DENIES = 4;
export const SIGN_COUNTS = 8;

const ASKS = /\?[\s"')\]]*$/;

/** Words of English, German, Spanish and French, without accents. */
const oneOf = (...words: string[]) => new RegExp(`\\b(?:${words.join("|")})\\b`);

/** Months and days of the week, but "may", which is more often another word. */
const CALENDAR = ["en", "de", "es", "fr"].flatMap((locale) => {
  const names = (part: "month" | "weekday", [days, count]: [days: number, count: number]) => {
    const format = new Intl.DateTimeFormat(locale, { [part]: "long", timeZone: "UTC" });
    return Array.from({ length: count }, (_, at) => fold(format.format(Date.UTC(2000, 0, 1 + at * days))));
  };
  return [...names("month", [31, 12]), ...names("weekday", [1, 7])].filter((name) => name !== "may");
});
const TELLS_TIME = oneOf(
  ...CALENDAR,
  "yesterday|today|tonight|tomorrow|ago|last|next|recently|soon|since|(?:week)?days?|weekends?|weeks?|months?|years?",
  "morning|evening|night|(?:19|20)\\d\\d",
  "gestern|heute|morgen|kurzlich|demnachst|seit|letzte[nmrs]?|nachste[nmrs]?|vorige[nmrs]?|tage[ns]?|wochen?|wochenenden?",
  "monate?[ns]?|jahre?[ns]?|abends?|nachts?|nachmittags?|uhr",
  "ayer|hoy|manana|hace|desde|pronto|pasad[oa]s?|proxim[oa]s?|ultim[oa]s?|dias?|semanas?|(?:al|del|este|cada) mes|meses",
  "anos?|tardes?|noches?",
  "aujourd'hui|demain|il y a|depuis|bientot|recemment|derniere?s?|prochaine?s?|jours?|semaines?|mois|annees?|ans|matin|soir|nuit",
);

/** Numbers, amounts and moments, which questions such as "how many", "how often" and "when" ask for. */
const COUNTS = oneOf(
  "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|sixty|seventy|eighty",
  "ninety|hundreds?|thousands?|half|quarter|first|once|twice|daily|hourly|weekly|monthly|yearly|quarterly|every|each|always",
  "never|free|none|nobody|no|all|both|single|noon|midnight|after|before|until|when|whenever|during",
  "zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn|elf|zwolf|dutzend|\\w*(?:hundert|tausend)|(?:ein|zwei|drei|vier)mal",
  "(?:\\w+und)?(?:zwanzig|dreissig|vierzig|funfzig|sechzig|siebzig|achtzig|neunzig)|halbe?[nmrs]?|viertel|erste[nmrs]?",
  "(?:stund|tag|wochent|monat|jahr)lich|jede[nmrs]?|immer|nie|niemals|kostenlos|keine?[nmrs]?|niemand|alle[nmrs]?|beide[nr]?",
  "mittags?|mitternacht|nach|vor|bis|wenn|wahrend",
  "dos|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|docenas?|veint\\w+|treinta|cuarenta|cincuenta|sesenta",
  "setenta|ochenta|noventa|cien(?:to)?|\\w*cient[oa]s|mil(?:es)?|medi[oa]|primer[oa]?|diari\\w+|(?:seman|mensu|anu)al\\w*|cada",
  "siempre|nunca|jamas|gratis|ningun[oa]?|nadie|tod[oa]s|amb[oa]s|mediodia|medianoche|antes|despues|hasta|cuando|durante|veces",
  "deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|douzaines?|treize|quatorze|quinze|seize|vingts?|trente|quarante",
  "cinquante|soixante|cents?|mille|demie?|quart|premiere?s?|fois|(?:quotidi|hebdomad|mensu|annu)e\\w+|chaque|toujours|jamais",
  "gratuit\\w*|aucune?|toute?s|tous|midi|minuit|avant|apres|jusqu|quand|lorsque|pendant",
);

/** Words that deny, in the languages of lib/text/languages.ts: no library has them. */
const DENIES = new RegExp(
  [
    // English, with contractions; German; French, Spanish and Portuguese.
    "not|no|never|none|nor|neither|cannot|without|\\p{L}+n['’]t",
    "nicht|kein\\p{L}*|nie|niemals|ohne|pas|jamais|sans|nunca|jamás|sin|não|nem|sem",
    // Russian; Hebrew; Arabic.
    "не|нет|ни|никогда|без|לא|אין|בלי|ללא|لا|ليس|ليست|لم|لن|بدون|غير",
  ]
    .map((words) => `(?<!\\p{L})(?:${words})(?!\\p{L})`)
    // Chinese and Japanese have no spaces.
    .concat("[不没沒未無无]|ません|ない(?!し)")
    .join("|"),
  "iu",
);

export function findSigns(text: string): number {
  const signs = ASKS.test(text) ? SIGN_ASKS : 0;
  const plain = fold(text);
  // Without its accent, "très" is a number in Spanish.
  const counts = /\p{N}|\btres\b/iu.test(text) || COUNTS.test(plain);
  const tells = (TELLS_TIME.test(plain) ? SIGN_TELLS_TIME : 0) | (counts ? SIGN_COUNTS : 0);
  return signs | tells | (DENIES.test(text) ? SIGN_DENIES : 0);
}

/** Returns a text without case, accents, invisible characters and contractions. */
export function fold(text: string): string {
  const plain = withoutInvisible(text).toLowerCase().normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
  const latin = plain.replace(OTHER_LATIN, (letter) => LATIN_LETTERS[letter] as string);
  const arabic = latin.replace(OTHER_ARABIC, (letter) => ARABIC_LETTERS[letter] as string);
  return arabic.replace(ENGLISH_CONTRACTIONS, "");
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}

function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const base = word.slice(0, MAX_WORD);
  const made = HEBREW.test(base) ? hebrewStem(base) : stemmer(IRREGULAR_FORMS.get(base) ?? base);
  if (stems.size >= MAX_REMEMBERED) stems.clear();
  stems.set(word, made);
  return made;
}

/** All of the letters that may be prefixes go, so that a word has the same stem with and without one. */
function hebrewStem(word: string): string {
  const stem = word.replace(HEBREW_PREFIXES, "").replace(HEBREW_PLURAL, "");
  return stem.replace(/[ךםןףץ]$/u, (letter) => FINAL_LETTERS[letter] as string);
}
