import { STOP_WORDS } from "./languages.ts";
import { fold, MAX_WORD, splitWords, terms, toTerms, WORD, type Word, withoutInvisible } from "./terms.ts";

/** The terms of a text for search. */
interface Terms {
  terms: string[];
  /** Further terms that count only if the query has them too: words and signs as they are written. */
  exact: string[];
}

/** Characters that can be a word by themselves. */
const SINGLES = /[\p{Script=Han}\p{Script=Hangul}]/gu;
/** A stop word in capitals is a name (WHO, IT). "I", and "A" at the beginning of a sentence, are always written so. */
const CAPITALS = /(?<![\p{L}\p{N}])(?:\p{Lu}{2,}|(?<=[\p{L}\p{N}] )[A-HJ-Z])(?![\p{L}\p{N}])/gu;
/** Between two words of a phrase. */
const INSIDE_PHRASE = /^[^.!?\n]+$/;
const PLAIN_WORD = /^[a-z]+[.,!?]?$/;
const ACRONYM = /(?<![\p{L}\p{N}])(\p{Lu}{2,4})s?(?![\p{L}\p{N}])/gu;
const LONGEST_ACRONYM = 4;
/** An id or a number is no word of a name. */
const DIGIT = /\d/;
const INSIDE_NAME = /^[ \t&/-]*$/;
const SPACE = /[\s\p{Cc}]+/u;
/** Quotation marks, brackets, punctuation and Markdown around a word, which are no part of it. */
const AROUND = /^(?:[("'[{<«»„“”‘’¿¡*_`–—•·]|\.\.+)+|[)"'\]}>«»„“”‘’.,;:!?*_`–—•·-]+$/gu;
const SIGN_AT_END = /^[^\p{L}\p{N}\p{M}]|[^\p{L}\p{N}\p{M}]$/u;
const INITIALS = /^\p{L}(?:\.\p{L})+$/u;
/** Words of up to so many letters are too frequent to find anything alone. */
const SHORT = 2;
const MAX_CHUNK = 2 * MAX_WORD;
/** Joins the parts of Persian words; others write a space there, or nothing. */
const NON_JOINER = "\u200c";
const JOINED = /[\p{L}\p{M}\u200c]+/gu;
const ARABIC = /\p{Script=Arabic}/u;

/** Returns the terms of a query: of one that says nothing else, its stop words and signs (`to be or not to be`, `||`). */
export function queryTerms(text: string): Terms {
  const folded = fold(text);
  const words = splitWords(folded);
  const terms = toTerms(words);
  const written = chunks(folded);
  const exact = [...capitals(text), ...signed(written), ...joinedParts(text)];
  if (terms.length === 0) exact.push(...stopPhrases(folded, words, [1, 2, 3]), ...signs(written));
  return { terms, exact };
}

/** Returns the terms of a title and a text, including those for queries of one character, of stop words and of signs. */
export function entryTerms({ title, text }: { title: string; text: string }): { title: Terms; text: Terms } {
  const [foldedTitle, foldedText] = [fold(title), fold(text)];
  const [titleWords, textWords] = [splitWords(foldedTitle), splitWords(foldedText)];
  const ofTitle = partTerms(title, foldedTitle, titleWords);
  const ofText = partTerms(text, foldedText, textWords);
  // Found by its stop words: a title is short, and an entry without other words has nothing else.
  ofTitle.exact.push(...stopPhrases(foldedTitle, titleWords, [1, 2]));
  const saysNothing = ofTitle.terms.length + ofText.terms.length === 0;
  if (saysNothing) ofText.exact.push(...stopPhrases(foldedText, textWords, [1, 2]));
  return { title: ofTitle, text: ofText };
}

function partTerms(text: string, folded: string, words: readonly Word[]): Terms {
  const written = chunks(folded);
  const names = capitals(text);
  const exact = [
    ...signed(written),
    ...joinedParts(text),
    ...names,
    ...names.map((name) => name.toLowerCase()),
  ];
  // Of two stop words there are too many.
  exact.push(...stopPhrases(folded, words, [3]), ...signs(written), ...(folded.match(SINGLES) ?? []));
  for (const run of namesIn(folded, words))
    for (const initials of listInitials(run)) exact.push(acronymTerm(initials));
  return { terms: toTerms(words), exact };
}

/** Returns stop words in capitals, as they are; other terms are in lower case. */
function capitals(text: string): string[] {
  const words = withoutInvisible(text).match(CAPITALS) ?? [];
  return words.filter((word) => STOP_WORDS.has(word.toLowerCase()));
}

/** Returns words whose signs matter: at their ends (C#, .NET, --force), or between short words (Q&A, 3.5). */
function signed(chunks: readonly string[]): string[] {
  return chunks.flatMap((chunk) => {
    const words = chunk.match(WORD) ?? [];
    if (words.length === 0 || words[0] === chunk) return [];
    if (INITIALS.test(chunk)) return [chunk.replaceAll(".", "")];
    const saysLittle = words.every((word) => word.length <= SHORT || STOP_WORDS.has(word));
    return saysLittle || SIGN_AT_END.test(chunk) ? [chunk.slice(0, MAX_WORD)] : [];
  });
}

/** Returns signs that stand alone: `||`, `=>`, an emoji. */
function signs(chunks: readonly string[]): string[] {
  return chunks.filter((chunk) => chunk.search(WORD) < 0);
}

function chunks(folded: string): string[] {
  const others = folded.split(SPACE).filter((chunk) => chunk.length <= MAX_CHUNK && !PLAIN_WORD.test(chunk));
  return others.map((chunk) => chunk.replace(AROUND, "")).filter((chunk) => chunk !== "");
}

/** Returns the phrases of so many successive stop words; of one, the words. */
function stopPhrases(folded: string, words: readonly Word[], lengths: readonly number[]): string[] {
  const phrases: string[] = [];
  let run: string[] = [];
  let end = 0;
  for (const { word, at, isStop } of words) {
    if (run.length && !(isStop && INSIDE_PHRASE.test(folded.slice(end, at)))) run = [];
    if (!isStop) continue;
    run.push(word);
    end = at + word.length;
    for (const length of lengths) if (run.length >= length) phrases.push(run.slice(-length).join("_"));
  }
  return phrases;
}

/** A term of an entry for the initials of its words: `=sla` for "service level agreement". */
export function acronymTerm(initials: string): string {
  return `=${initials}`;
}

/** Returns words in capitals that may be an acronym, without a plural's "s", and their terms. */
export function acronyms(text: string): { initials: string; word: string }[] {
  return [...withoutInvisible(text).matchAll(ACRONYM)].flatMap(([whole, capitals = ""]) =>
    terms(whole).map((word) => ({ initials: capitals.toLowerCase(), word })),
  );
}

/** Returns the successive words of a text that an acronym may stand for. */
export function* windows(folded: string): Generator<{ initials: string; words: string[] }> {
  for (const run of namesIn(folded, splitWords(folded)))
    for (const initials of listInitials(run)) yield { initials, words: run.slice(-initials.length) };
}

/** Returns the initials of the last words of a run: of two, of three and so on. */
function* listInitials(run: readonly string[]): Generator<string> {
  let initials = run.at(-1)?.[0] ?? "";
  for (let at = run.length - 2; at >= 0; at--) {
    initials = run[at]?.[0] + initials;
    yield initials;
  }
}

/** Returns, for each word, it and those before it that may be one name with it. */
function* namesIn(folded: string, words: readonly Word[]): Generator<readonly string[]> {
  let run: string[] = [];
  let end = 0;
  for (const { word, at, isStop } of words) {
    const between = folded.slice(end, at);
    end = at + word.length;
    // A stop word belongs to a name only if it is joined to it: sign-on.
    const isPart = (!isStop || between === "-") && !DIGIT.test(word);
    if (!isPart || !(between === " " || INSIDE_NAME.test(between))) run = [];
    if (!isPart) continue;
    if (run.push(word) > LONGEST_ACRONYM) run.shift();
    yield run;
  }
}

function joinedParts(text: string): string[] {
  if (!text.includes(NON_JOINER)) return [];
  const words = (text.match(JOINED) ?? []).filter((word) => word.includes(NON_JOINER) && ARABIC.test(word));
  return words.flatMap((word) => word.split(NON_JOINER)).flatMap(terms);
}
