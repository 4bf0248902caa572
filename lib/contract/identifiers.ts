import { type TProperties, type TSchema, Type } from "typebox";
import { idPattern, PREFIXED, type Prefix } from "../ids.ts";

/** A prefixed identifier. A malformed one is `400 validation_error` with the field (api.md "Identifiers"). */
export function Id(prefix: Prefix, description = `Id of the ${PREFIXED[prefix]}.`) {
  return Type.String({
    pattern: idPattern(prefix),
    examples: [`${prefix}_4fXq1mCz8Jw0bT7kLr2N`],
    "x-identifier": true,
    description,
  });
}

/** A UUID; `kind` names the resource in errors (`memory`). A malformed one is `400 validation_error` with the field. */
export function Uuid(kind: string, description = `Id of the ${kind.replaceAll("_", " ")}.`) {
  return Type.String({
    format: "uuid",
    examples: ["0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"],
    "x-identifier": kind,
    description,
  });
}

/** Parameters of paths that are the same wherever they stand: a route that names one declares it. */
export const PATH_IDS = {
  agent_id: Id("ag"),
  channel_id: Id("ch"),
  connector_id: Id("con"),
  delivery_id: Id("dlv"),
  document_id: Uuid("document"),
  event_id: Id("evt", "Id that the service gave the event."),
  exemplar_id: Uuid("exemplar"),
  feed_id: Id("feed"),
  key_id: Id("key"),
  offer_id: Uuid("handoff_offer"),
  rel_id: Id("rel"),
  replay_id: Uuid("replay"),
  run_id: Uuid("run"),
  schedule_id: Id("sch"),
  session_id: Id("ses"),
  team_id: Id("team"),
  tenant_id: Id("tn"),
  user_id: Id("usr"),
  webhook_id: Id("whk"),
};

type Named<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Named<Rest>
  : never;

export type PathIds<Route extends string> = Pick<typeof PATH_IDS, Named<Route> & keyof typeof PATH_IDS>;

/** Returns the parameters of a path, in its order. @param own those that are not in `PATH_IDS` */
export function pathOf(route: string, own: TProperties = {}): TProperties {
  const all: TProperties = { ...PATH_IDS, ...own };
  return Object.fromEntries(
    [...route.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, all[name] as TSchema]),
  );
}
