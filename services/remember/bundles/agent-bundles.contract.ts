import { Type } from "typebox";
import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { Id, page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Bundle } from "./bundles.contract.ts";

/** Bundles stay the agent's: people only read them, and each read is audited. */
const person = { access: { by: "user" }, audit: true } as const;

const ListedBundle = Type.Object(
  {
    id: Uuid("bundle"),
    query: nullable(Type.String({ description: "The beginning of the query." })),
    item_count: Type.Integer({ minimum: 0 }),
    degraded: Type.Boolean(),
    created_at: Timestamp,
  },
  { title: "ListedBundle" },
);

export const listBundlesOfAgent = operation({
  action: "bundles.list_of_agent",
  route: "GET /agents/{agent_id}/bundles",
  summary: "List an agent's bundles for people, newest first",
  description: "For admins and the agent's owner; recorded in the audit log.",
  ...person,
  query: { limit: page.limit, cursor: Cursor },
  answer: Type.Object({ bundles: Type.Array(ListedBundle), next_cursor: nullable(Type.String()) }),
});

export const getBundleOfAgent = operation({
  action: "bundles.get_of_agent",
  route: "GET /agents/{agent_id}/bundles/{id}",
  summary: "Read an agent's bundle as a person",
  description:
    "For admins and the agent's owner; recorded in the audit log. Items that the caller cannot read have an empty " +
    "title, and the brief, which quotes them, is then null.",
  ...person,
  path: { id: Uuid("bundle") },
  answer: Type.Object(
    {
      ...Bundle.properties,
      agent_id: Id("ag"),
      rendered_brief: nullable(
        Type.String({ description: "Markdown. Null if it quotes an item that the caller cannot read." }),
      ),
    },
    { title: "BundleForPeople" },
  ),
});
