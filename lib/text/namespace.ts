/** Sorts before all that a label may have, so that what is below a namespace follows it. */
const SEPARATOR = "\u0001";
const PAST_SEPARATOR = "\u0002";

/** Returns a namespace as rows have it. @param namespace labels joined by dots */
export const toStored = (namespace: string) => namespace.replaceAll(".", SEPARATOR);

export const fromStored = (stored: string) => stored.replaceAll(SEPARATOR, ".");

/** Returns the range of what is below a stored namespace. */
const below = (stored: string) => ({ $gte: stored + SEPARATOR, $lt: stored + PAST_SEPARATOR });

/** Returns the range of what sorts after a stored namespace and all below it. */
export const pastAll = (stored: string) => ({ $gte: stored + PAST_SEPARATOR });

/** Returns a stored namespace and those above it, as labels of a search entry. */
export function ancestorLabels(stored: string): string[] {
  const labels = stored.split(SEPARATOR);
  return labels.map((_, at) => labelOf(labels.slice(0, at + 1).join(".")));
}

/** @param namespace labels joined by dots */
export const labelOf = (namespace: string) => `namespace:${namespace}`;

/** Returns the filter of the rows in a namespace and those below it. @param namespace labels joined by dots */
export function inNamespace(namespace: string) {
  const stored = toStored(namespace);
  return { $or: [{ namespace: stored }, { namespace: below(stored) }] };
}
