import type { Memory } from "../../../../client/index.ts";

/** Characters that two lines of a box have room for. */
const ROOM = 46;
const HEAD = 16;
const END_OF_ID = 6;

/**
 * Returns a label for each, by id, no two of them equal as far as they are seen: titles that begin alike are cut
 * before they differ, and equal ones get the end of their ids.
 *
 * @param room in characters
 */
export function distinctLabels(
  things: readonly Pick<Memory, "id" | "title">[],
  room = ROOM,
): Map<string, string> {
  const seen = (text: string) => text.slice(0, room);
  const cut = things.map((thing) => {
    const { title } = thing;
    const alike = things.filter((other) => other !== thing && seen(other.title) === seen(title));
    const same = Math.max(0, ...alike.map((other) => sameLength(other.title, title)));
    const isCut = title.length > room && same < title.length && alike.length > 0;
    // From the beginning of the word in which they differ.
    const from = title.lastIndexOf(" ", same) + 1;
    return {
      ...thing,
      label: isCut && from > HEAD ? `${title.slice(0, HEAD).trim()}… ${title.slice(from)}` : title,
    };
  });
  const byLabel = Map.groupBy(cut, ({ label }) => seen(label));
  return new Map(
    cut.map(({ id, label }) => {
      const isUnique = byLabel.get(seen(label))?.length === 1;
      return [id, isUnique ? label : `…${id.slice(-END_OF_ID)} ${label}`];
    }),
  );
}

/** Returns how many characters two texts begin with alike. */
function sameLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
