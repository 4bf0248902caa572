import { allOf, attributeOf, childOf, type Element, isOn } from "./xml.ts";

const mark = (isTicked: boolean) => (isTicked ? "☒" : "☐");

/**
 * Returns the state of a field of an older form, in place of what its font draws; null if its text stands in the document.
 *
 * @param begin the beginning of the field, which has its settings within it
 */
export function fieldState(begin: Element): string | null {
  const [box] = allOf(begin, "checkBox");
  if (box) return mark(isTicked(childOf(box, "checked") ?? childOf(box, "default")));
  const [list] = allOf(begin, "ddList");
  if (!list) return null;
  const chosen = childOf(list, "result") ?? childOf(list, "default");
  const entry = allOf(list, "listEntry")[Number(chosen && attributeOf(chosen, "val")) || 0];
  return (entry && attributeOf(entry, "val")) ?? "";
}

/** Returns the state of a control of a newer form (`w:sdt`) that can be ticked; null of others. */
export function controlState(control: Element): string | null {
  const box = childOf(childOf(control, "sdtPr"), "checkbox");
  return box ? mark(isTicked(childOf(box, "checked"))) : null;
}

const isTicked = (state: Element | undefined) => state !== undefined && isOn(attributeOf(state, "val"));
