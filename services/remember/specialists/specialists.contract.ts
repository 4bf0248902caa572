import { Type } from "typebox";
import { component, nullable, operation } from "../../../lib/contract/contract.ts";
import { AnyText, Description, page, SomeText, Timestamp } from "../../../lib/contract/schema.ts";

const reader = { by: "any", scope: "memory:read" } as const;

const SpecialistName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[a-z0-9]+([._-][a-z0-9]+)*$",
  "x-expected": "lower-case letters and digits, separated by `.`, `_` or `-`",
  description: "Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`.",
  examples: ["contract-reviewer"],
});
const Version = Type.Integer({ minimum: 1 });
const Text = (description: string) => nullable(AnyText(100_000, description));

const path = { name: { ...SpecialistName, "x-identifier": "specialist" } };
/** Accepts any name: an unknown one gives a result, not an error (spec: load specialist). */
const AskedName = AnyText(200, "Name of the specialist.", "contract-reviewer");
const asked = { name: { ...AskedName, "x-identifier": "specialist" } };

const preamble = {
  system_prompt: SomeText(100_000, "Instructions for the agent that loads it.", "You review contracts."),
  memory_search_directives: Text("What to search the memories for, and how."),
  output_format_rules: Text("Format of the agent's results."),
  description: nullable(Description),
};

export const Specialist = component("Specialist", {
  name: SpecialistName,
  version_num: Version,
  ...preamble,
});

const NotLoaded = component("SpecialistNotLoaded", {
  error: Type.Object({ code: Type.String({ description: "`not_found` or `unavailable`." }) }),
});

export const writeSpecialist = operation({
  action: "specialists.write",
  route: "PUT /specialists/{name}",
  summary: "Write a specialist's next version",
  description: "The first write creates the specialist. Earlier versions do not change.",
  access: { by: "any", scope: "admin" },
  path,
  body: {
    system_prompt: preamble.system_prompt,
    memory_search_directives: Type.Optional(preamble.memory_search_directives),
    output_format_rules: Type.Optional(preamble.output_format_rules),
    description: Type.Optional(preamble.description),
  },
  answer: Specialist,
  errors: ["conflict"],
});

export const listSpecialists = operation({
  action: "specialists.list",
  route: "GET /specialists",
  summary: "List specialists by name",
  description:
    "Use this to find a specialist to load. Returns their names, descriptions and latest versions.",
  access: reader,
  answer: Type.Object({
    specialists: Type.Array(
      Type.Object({
        name: SpecialistName,
        version_num: Version,
        description: preamble.description,
        updated_at: Timestamp,
        loaded: Type.Boolean({ description: "The caller has loaded it and not unloaded it." }),
      }),
    ),
  }),
  mcp: true,
});

export const loadSpecialist = operation({
  action: "specialists.load",
  route: "POST /specialists/{name}/load",
  summary: "Load a specialist's latest version",
  description:
    "Use this to work as a specialist. Returns its prompt and rules; if it does not exist or is unavailable, the " +
    "result has `error`.",
  access: reader,
  overQuota: true,
  path: asked,
  answer: Type.Union([Specialist, NotLoaded]),
  refusesInBand: true,
  mcp: { idempotent: true },
});

export const unloadSpecialist = operation({
  action: "specialists.unload",
  route: "POST /specialists/{name}/unload",
  summary: "Unload a specialist",
  description:
    "Call this after working as a specialist. It only records the end: instructions already in the conversation stay there. Returns the specialist's name.",
  access: reader,
  overQuota: true,
  path: asked,
  answer: Type.Object({ unloaded: Type.Boolean(), name: AskedName }),
  refusesInBand: true,
  mcp: { idempotent: true },
});

export const listSpecialistVersions = operation({
  action: "specialists.versions",
  route: "GET /specialists/{name}/versions",
  summary: "List a specialist's versions, newest first",
  description: "A page of long versions may have fewer than `limit`: continue with `offset` until `total`.",
  access: reader,
  path,
  query: page,
  answer: Type.Object({
    versions: Type.Array(Type.Object({ ...Specialist.properties, created_at: Timestamp })),
    total: Type.Integer(),
  }),
  errors: ["not_found"],
});
