/** Returns the beginning of a text. @param most characters */
export function cut(text: string, most: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= most) return trimmed;
  return `${trimmed.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
