/** None, one or several elements. Most often one, for which an array would take most of the memory. */
export type Few<Element extends object> = Element | Element[] | null;

/** Adds an element; do not use the previous value afterwards. */
export function added<Element extends object>(few: Few<Element>, element: Element): Few<Element> {
  if (few === null) return element;
  if (!Array.isArray(few)) return [few, element];
  few.push(element);
  return few;
}

/** Removes an element; may change the order. */
export function removed<Element extends object>(few: Few<Element>, element: Element): Few<Element> {
  if (!Array.isArray(few)) return few === element ? null : few;
  const at = few.indexOf(element);
  const last = few.pop() as Element;
  if (at >= 0 && at < few.length) few[at] = last;
  return few.length === 0 ? null : few;
}

const NONE: never[] = [];

/** Returns the elements as a read-only list. */
export function all<Element extends object>(few: Few<Element>): readonly Element[] {
  if (few === null) return NONE;
  return Array.isArray(few) ? few : [few];
}
