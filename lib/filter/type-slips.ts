import { compileGlob } from "./glob.ts";

/** Returns a warning of a type or glob with an empty part, such as `com..x`, or with spaces; null if it has neither. */
export function malformed(type: string): string | null {
  const hasSpaces = /\s/.test(type);
  if (!hasSpaces && !/^\.|\.\.|\.$/.test(type)) return null;
  const meant = type
    .trim()
    .replace(/[\s.]+/g, ".")
    .replace(/^\.|\.$/g, "");
  const what = hasSpaces ? "spaces" : "an empty part between dots";
  return `The type \`${type}\` has ${what}.${meant ? ` Did you mean \`${meant}\`?` : ""}`;
}

/**
 * Returns a warning of a type or glob that none of the types seen matches, while one would with one letter added, removed
 * or changed, or two swapped; null otherwise.
 */
export function neighbourSeen(glob: string, types: readonly string[]): string | null {
  const { prefix, test } = bound(glob);
  if (types.some(test)) return null;
  const rest = glob.slice(prefix.length);
  for (const type of types) {
    for (const more of [0, -1, 1]) {
      const start = type.slice(0, prefix.length + more);
      const meant = start + rest;
      if (!isSlip(prefix, start) || !isGlobFor(meant, type)) continue;
      return `None of the last events has a type that \`${glob}\` matches. Did you mean \`${meant}\`?`;
    }
  }
  return null;
}

function bound(glob: string) {
  const compiled = compileGlob(glob);
  return { prefix: compiled.prefix, test: (type: string) => compiled.test(type) };
}

function isGlobFor(glob: string, type: string): boolean {
  try {
    return bound(glob).test(type);
  } catch {
    // A seen type with wildcards in it.
    return false;
  }
}

/** A shorter part, such as a version, differs from its neighbours in one letter as well. */
const LEAST_PART = 4;

/** Whether a text is one edit of letters away from another, within a part of the type. */
function isSlip(given: string, meant: string): boolean {
  const least = Math.min(given.length, meant.length);
  let same = 0;
  while (same < least && given[same] === meant[same]) same++;
  let end = 0;
  while (end < least - same && given.at(-1 - end) === meant.at(-1 - end)) end++;
  const [a, b] = [given.slice(same, given.length - end), meant.slice(same, meant.length - end)];
  const isSwapped = a.length === 2 && a[0] === b[1] && a[1] === b[0] && b.length === 2;
  if (Math.max(a.length, b.length) !== 1 && !isSwapped) return false;
  const part = (text: string, edit: string) =>
    (/[^.]*$/.exec(text.slice(0, same))?.[0].length ?? 0) +
    edit.length +
    (/^[^.]*/.exec(text.slice(same + edit.length))?.[0].length ?? 0);
  return /^\p{L}*$/u.test(a + b) && Math.min(part(given, a), part(meant, b)) >= LEAST_PART;
}
