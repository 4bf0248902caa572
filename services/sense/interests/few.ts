/** None, one or several. Most often it is one, for which an array of its own would be most of the memory. */
export type Few<Element extends object> = Element | Element[] | null;

/** With one more; what it was before is not to be used again. */
export function added<Element extends object>(few: Few<Element>, element: Element): Few<Element> {
  if (few === null) return element;
  if (!Array.isArray(few)) return [few, element];
  few.push(element);
  return few;
}

/** Not in the same order. */
export function removed<Element extends object>(few: Few<Element>, element: Element): Few<Element> {
  if (!Array.isArray(few)) return few === element ? null : few;
  const at = few.indexOf(element);
  const last = few.pop() as Element;
  if (at >= 0 && at < few.length) few[at] = last;
  return few.length === 0 ? null : few;
}

const NONE: never[] = [];

/** As a list, not to be changed. */
export function all<Element extends object>(few: Few<Element>): readonly Element[] {
  if (few === null) return NONE;
  return Array.isArray(few) ? few : [few];
}
