import { Type } from "typebox";
import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Handoff } from "./handoffs.contract.ts";

/** Handoffs stay the agent's: people only read them, and each read is audited. */
const person = { access: { by: "user" }, audit: true } as const;

const { name, version_num, origin_client, pinned_at, last_resumed_at, expires_at, updated_at, bundle_id } =
  Handoff.properties;

export const ListedHandoff = Type.Object(
  {
    id: Uuid("handoff"),
    name,
    summary: Type.String({ description: "The beginning of the summary." }),
    ...{ version_num, origin_client, pinned_at, last_resumed_at, expires_at, updated_at, bundle_id },
  },
  { title: "ListedHandoff" },
);

export const listHandoffsOfAgent = operation({
  action: "handoffs.list_of_agent",
  route: "GET /agents/{agent_id}/handoffs",
  summary: "List an agent's handoffs for people, last saved first",
  description:
    "For admins and the agent's owner; recorded in the audit log. Agents list their own with `GET /handoffs`.",
  ...person,
  query: { limit: page.limit, cursor: Cursor },
  answer: Type.Object({ handoffs: Type.Array(ListedHandoff), next_cursor: nullable(Type.String()) }),
});

export const getHandoffOfAgent = operation({
  action: "handoffs.get_of_agent",
  route: "GET /agents/{agent_id}/handoffs/{id}",
  summary: "Read an agent's handoff as a person",
  description:
    "For admins and the agent's owner; recorded in the audit log. Does not resume it. Titles of cited memories that " +
    "the caller cannot read are empty.",
  ...person,
  path: { id: Uuid("handoff") },
  answer: Type.Object(
    {
      ...Handoff.properties,
      created_at: Timestamp,
      brief: Type.String({ description: "Markdown: what a successor gets when it resumes the handoff." }),
    },
    { title: "HandoffForPeople" },
  ),
});
