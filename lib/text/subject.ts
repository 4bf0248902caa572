import { UUIDS } from "../ids.ts";
/** Stands for a text that was erased. */
export const ERASED = "[erased]";

/** Returns the equivalent encodings of a subject: an accented letter is one character in NFC and two in NFD. */
export function writings(subject: string): string[] {
  return [...new Set([subject, subject.normalize("NFC"), subject.normalize("NFD")])];
}

/** Whether a value of JSON has a field `subject`, however deep, that is or contains one of these. */
export function namesSubject(value: unknown, subjects: ReadonlySet<string>): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, each]) =>
      (key === "subject" && [each].flat().some((one) => subjects.has(String(one)))) ||
      namesSubject(each, subjects),
  );
}

const LETTER = /[\p{L}\p{N}]/u;

/** Returns whether a text has one of these ids, or a subject as whole words: plain, in JSON or in an address. */
export function toNames({ ids = [], subject }: Named) {
  const known = new Set(ids);
  const words = subject === undefined ? [] : writings(subject);
  const inAddresses = (word: string) => [word, encodeURIComponent(word.toWellFormed()), ...hyphenated(word)];
  const looked = new Set(words.flatMap(inAddresses));
  return (text: string): boolean => {
    if (known.size > 0 && (text.match(UUIDS) ?? []).some((id) => known.has(id))) return true;
    return (
      looked.size > 0 &&
      [text, unescaped(text)].some((each) => [...looked].some((word) => hasWord(each, word)))
    );
  };
}

/** Several words as they are in an address that was made of a text. */
function hyphenated(words: string): string[] {
  const parts = words.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return parts.length > 1 ? [parts.join("-")] : [];
}

interface Named {
  ids?: readonly string[] | undefined;
  subject?: string | undefined;
}

/** Returns a text without the escapes of JSON, however often they were escaped: `\n` before a name is no letter of it. */
function unescaped(text: string): string {
  return text
    .replace(/\\+u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+[bfnrt]/g, " ")
    .replace(/\\+(["/\\])/g, "$1");
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!LETTER.test(text[at - 1] ?? "") && !LETTER.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}
