/** The text that search finds an item by. */
const MOST_CONTENT = 32_000;

/** The fields of `index`, by default all; the key alone if it is false. */
export function textOf(key: string, value: Record<string, unknown>, index?: false | string[]): string {
  if (index === false) return key;
  const text = index ? index.flatMap((path) => textsAt(value, path)).join("\n") : JSON.stringify(value);
  return text.slice(0, MOST_CONTENT).toWellFormed() || key;
}

/** The texts at a path such as `title`, `chapters[*].content`, `authors[-1].name`, or `$` for all. */
function textsAt(value: unknown, path: string): string[] {
  if (path === "$") return [JSON.stringify(value)];
  const steps = path.split(/[.[\]]+/).filter(Boolean);
  const found = steps.reduce<unknown[]>((all, step) => all.flatMap((each) => inside(each, step)), [value]);
  return found.flatMap((each) => {
    if (each === null || each === undefined) return [];
    return typeof each === "string" ? each : JSON.stringify(each);
  });
}

function inside(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Object.values(value);
  if (Array.isArray(value)) return [value.at(Number(step))];
  return Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
}
