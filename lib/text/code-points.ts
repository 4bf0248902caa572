/**
 * Compares texts by code points, the order of UTF-8 bytes and of the stores. `<` compares UTF-16 units, which puts
 * emoji before full-width letters.
 */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === length) return a.length - b.length;
  return codePointRank(a.charCodeAt(i)) - codePointRank(b.charCodeAt(i));
}

/** Returns a title by which a list is sorted, whatever its case. */
export function titleKey(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}

function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns at most this many characters from the beginning of a text, without half of one at the end. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff && length < text.length ? length - 1 : length);
}
