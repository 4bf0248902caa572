export const tags = (names: string) => new Set(names.split(" "));
/** Elements that are part of a line and of a word. All elements that are not listed here end the line. */
export const INLINE_ELEMENTS = tags(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rb rt rtc ruby s samp small span " +
    "strike strong sub sup time tt u var wbr html body head",
);
/** Elements that are part of a line, but not of a word. */
export const SPACED_ELEMENTS = tags("button img input label meter output picture progress");

/** Whether an element is part of a line of text; others end the line. */
export const isWithinLine = (name: string) =>
  INLINE_ELEMENTS.has(name) || SPACED_ELEMENTS.has(name) || name.includes("-");
