/** None, one or several elements. Most often one, for which an array would take most of the memory. */
export type CompactList<Element extends object> = Element | Element[] | null;

/** Adds an element; do not use the previous value afterwards. */
export function addTo<Element extends object>(
  list: CompactList<Element>,
  element: Element,
): CompactList<Element> {
  if (list === null) return element;
  if (!Array.isArray(list)) return [list, element];
  list.push(element);
  return list;
}

/** Removes an element; may change the order. */
export function removeFrom<Element extends object>(
  list: CompactList<Element>,
  element: Element,
): CompactList<Element> {
  if (!Array.isArray(list)) return list === element ? null : list;
  const at = list.indexOf(element);
  const last = list.pop() as Element;
  if (at >= 0 && at < list.length) list[at] = last;
  return list.length === 0 ? null : list;
}

const NONE: never[] = [];

/** Returns the elements as a read-only list. */
export function itemsOf<Element extends object>(list: CompactList<Element>): readonly Element[] {
  if (list === null) return NONE;
  return Array.isArray(list) ? list : [list];
}
