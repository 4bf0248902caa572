/** Returns at most this many characters from the beginning of a text, without half of one at the end. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff && length < text.length ? length - 1 : length);
}
