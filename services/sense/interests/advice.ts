import type { Context } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { filterable, parseEnvelope } from "../../../lib/filter/filter.ts";
import { compileGlob } from "../../../lib/filter/glob.ts";
import { listReads, malformed, neighbourSeen } from "../../../lib/filter/names.ts";
import { isOfService, type LatestParams, type Sample } from "./explain.ts";
import { filterHints, isObject } from "./filter-hints.ts";

/** A new or changed subscription. Glob and filter are valid. */
export interface Subscribing {
  tenant_id: string;
  glob: string;
  filter: string | null;
}

/** Latest events that a new subscription is compared with. */
const COMPARED = 50;
const MAX_KEYS = 10;

/**
 * Returns warnings of a subscription that is likely to match nothing, as the latest events show. Refuses a filter with a bare
 * name (`foo`) that no event of the type has, with its `position`: `data.foo` says that events will have it.
 */
export async function adviseOn(ctx: Context, { tenant_id, glob, filter }: Subscribing): Promise<string[]> {
  const latest = { tenant_id, limit: COMPARED, include_service: isOfService(glob) };
  // Without events there is no advice, but the subscription is valid.
  const samples = await ctx.call<Sample[], LatestParams>("events.latest", latest).catch(() => []);
  const events = samples.map(({ envelope }) => parseEnvelope<CloudEvent>(envelope));
  const types = [...new Set(events.map(({ type }) => type))];
  const warnings = [malformed(glob) ?? neighbourSeen(glob, types) ?? []].flat();
  if (filter === null) return warnings;
  const compiled = compileGlob(glob);
  const ofType = events
    .filter(({ type }) => compiled.test(type))
    .map((each) => filterable(each) as CloudEvent);
  if (ofType.length === 0) return [...warnings, ...unchecked(filter)];
  for (const { text, read } of filterHints(filter, ofType)) {
    // The service's own types differ in their keys.
    if (read.of !== "key" || isOfService(glob)) warnings.push(text);
    else throw unknownName(filter, ofType, text, read);
  }
  return warnings;
}

function unknownName(
  value: string,
  events: readonly CloudEvent[],
  text: string,
  { name, position }: { name: string; position: number },
) {
  const keys = new Set(events.flatMap(({ data }) => (isObject(data) ? Object.keys(data) : [])));
  const names = [...keys].slice(0, MAX_KEYS).map((key) => `\`data.${key}\``);
  const known = text.endsWith("?") || names.length === 0 ? "" : ` They have ${names.join(", ")}.`;
  const message = `${text}${known} If later events will have it, write \`data.${name}\``;
  const field = "filter_expression";
  return invalidValue(field, `${field}: ${message} (at position ${position}).`, { value, position });
}

/** A bare name is a key of `data`, which no event shows yet. */
function unchecked(filter: string): string[] {
  const keys = listReads(filter).filter(({ of, optional }) => of === "key" && !optional);
  return [...new Set(keys.map(({ name }) => name))].map(
    (name) =>
      `None of the last events has this type, so \`${name}\` was not checked: it is read as \`data.${name}\`.`,
  );
}
