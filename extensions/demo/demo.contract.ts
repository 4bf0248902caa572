import { Type } from "typebox";
import { component, nullable, operation } from "../../lib/contract/contract.ts";
import { Id } from "../../lib/contract/schema.ts";

const admin = { by: "any", scope: "admin" } as const;

const Tenant = component("DemoTenant", {
  id: Id("tn"),
  slug: Type.String({ examples: ["demo-3f2a91c04b"] }),
  name: Type.String({ examples: ["Northwind (demonstration)"] }),
});

const Made = component("DemoPart", {
  what: Type.String({ examples: ["7 events, one of them a dead letter"] }),
  url: Type.String({
    description: "Its page in the console.",
    examples: ["https://sensorium.example.com/events"],
  }),
});

const own = Type.Boolean({ description: "The caller's organisation is itself a demonstration." });

export const getDemo = operation({
  action: "demo.get",
  route: "GET /demo",
  summary: "Read whether the organisation has a demonstration",
  access: admin,
  answer: Type.Object({ tenant: nullable(Tenant), own }),
});

export const createDemo = operation({
  action: "demo.create",
  route: "POST /demo",
  summary: "Create a demonstration",
  description:
    "Creates an organisation with an example: an online shop whose agents deliver orders, remember, ask people and launch a " +
    "product. One for each organisation, at no other's expense: nothing changes in the caller's. Repeating the request completes one that was " +
    "interrupted, and returns the same person, whose password is valid until it is changed.",
  access: admin,
  outlives: true,
  answer: component("Demonstration", {
    tenant: Tenant,
    url: Type.String({
      description: "Address of the console.",
      examples: ["https://sensorium.example.com/"],
    }),
    person: Type.Object(
      { email: Type.String(), password: Type.String() },
      { description: "Signs in to the console as its admin." },
    ),
    made: Type.Array(Made),
  }),
  errors: ["conflict"],
  secret: true,
});

export const deleteDemo = operation({
  action: "demo.delete",
  route: "DELETE /demo",
  summary: "Remove the demonstration",
  description:
    "Erases its organisation with all its data. In a demonstration it removes that itself. Without one nothing happens.",
  access: admin,
  overQuota: true,
  answer: Type.Object({
    tenant_id: nullable(Id("tn", "The removed organisation; null: nothing was removed.")),
    erased: Type.Integer({ description: "Number of erased rows." }),
  }),
});
