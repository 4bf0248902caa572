import { Type } from "typebox";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import {
  byReference,
  component,
  nullable,
  oneOf,
  operation,
  optional,
} from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { AnyText, Id, page, Timestamp, Uuid, Whole, Words } from "../../../lib/contract/schema.ts";
import { TagsInput } from "../../../lib/contract/tags.ts";

export const EXPORT_FORMATS = ["md", "html", "pdf", "docx"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const reader = { by: "any", scope: "memory:read" } as const;
const writer = { by: "any", scope: "memory:write" } as const;

/** A UUID is always taken as an id, anything else as a slug. */
export const OutputId = Type.String({
  maxLength: 200,
  // Published: no ASCII but letters and digits. Checked: letters, marks and digits of every script, too.
  pattern: "^[^\\x00-/:-@\\[-`{-\\x7f]+(-[^\\x00-/:-@\\[-`{-\\x7f]+)*$",
  "x-pattern": "^[\\p{L}\\p{M}\\p{N}]+(-[\\p{L}\\p{M}\\p{N}]+)*$",
  "x-expected": "the id or the slug of an output: letters and digits, separated by hyphens",
  examples: ["0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"],
  "x-identifier": "output",
  description: "Id or slug of the output.",
});
const path = { output_id: OutputId };

export const Scope = oneOf(MEMORY_SCOPES, {
  examples: ["team"],
  description:
    "Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). Set by the first save; default `agent`.",
});
export const ProjectKey = AnyText(100, "Key of the project.");
const Title = Words(300, "Title. Default: the first heading or line of the text.", "Release notes, May");
const SourceType = AnyText(100, "Kind of output, as the caller names it.", "report");
const ChangeNote = AnyText(2000, "What this version changes.");
const Links = (description: string) =>
  Type.Array(Type.String({ maxLength: 200 }), {
    maxItems: 200,
    description: `${description} Ids or slugs; unreadable ones are ignored.`,
  });

const links = optional({
  derived_from_ids: Links("Outputs that it was derived from."),
  references_ids: Links("Outputs that it refers to."),
  supersedes_ids: Links("Outputs that it supersedes."),
});

const Body = (description: string) => nullable(Type.String({ description }));

export const Output = component("Output", {
  id: Uuid("output"),
  tenant_id: Id("tn"),
  agent_id: nullable(Id("ag", "The agent that saved it first; null if a person did.")),
  user_id: nullable(Id("usr", "The person who saved it first; null if an agent did.")),
  project_id: nullable(ProjectKey),
  scope: Scope,
  team_id: nullable(Id("team")),
  title: Type.String(),
  slug: Type.String(),
  source_type: nullable(SourceType),
  bucket: Type.String({ description: "The storage of the text." }),
  object_key: Type.String(),
  content_hash: Type.String({ description: "SHA-256 of the text in hex." }),
  byte_size: Type.Integer(),
  content_type: Type.String(),
  metadata: Type.Object({}, { additionalProperties: true }),
  tags: Type.Array(Type.String()),
  derived_from_ids: Type.Array(Uuid("output")),
  references_ids: Type.Array(Uuid("output")),
  supersedes_ids: Type.Array(Uuid("output")),
  superseded_by: nullable(Uuid("output")),
  current_version_num: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  process_run_id: nullable(Uuid("run")),
  body: Body("The text as it was saved, byte for byte; null in lists."),
});

export const OutputVersion = component("OutputVersion", {
  id: Uuid("output_version"),
  output_id: Uuid("output"),
  version_num: Type.Integer(),
  title: Type.String(),
  content_hash: Type.String(),
  byte_size: Type.Integer(),
  content_type: Type.String(),
  change_note: nullable(Type.String()),
  authored_by_agent_id: nullable(Id("ag")),
  authored_by_user_id: nullable(Id("usr")),
  authored_by_specialist_id: nullable(Type.String()),
  created_at: Timestamp,
  body: Body("The text as it was saved, byte for byte; null in lists."),
});

/** Parameters for a request whose body is the text. */
const plain = {
  title: Type.Optional(Title),
  scope: Type.Optional(Scope),
  team_id: Type.Optional(nullable(Id("team", "Team, for the scope `team`. Default: the calling agent's."))),
  project_id: Type.Optional(nullable(ProjectKey)),
  source_type: Type.Optional(nullable(SourceType)),
  output_id: Type.Optional({
    ...OutputId,
    description: "Output to save a new version of. Default: a new output.",
  }),
  change_note: Type.Optional(ChangeNote),
  process_run_id: Type.Optional(nullable(Uuid("run", "Run that it belongs to."))),
  ...links,
};

export const saveOutput = operation({
  action: "outputs.save",
  route: "POST /outputs",
  summary: "Save an output, or a new version of one",
  description:
    "Stores the text byte for byte; it may have any length. With `output_id`, saves a new version: given fields " +
    "replace the existing ones, and earlier versions do not change. In a `text/markdown` request the body is the " +
    "text, and the other fields are in the query.",
  access: writer,
  audit: true,
  query: plain,
  body: {
    body: byReference({ description: "Text in Markdown.", minLength: 1, examples: ["# Release notes\n"] }),
    metadata: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Free-form data of the caller." }),
    ),
    ...plain,
  },
  byReference: { body: "text" },
  textBody: "body",
  maxBodySetting: "OUTPUT_BODY_MAX",
  fromBlob: { field: "body" },
  results: { 201: Output },
  errors: ["not_found", "conflict"],
  mcp: {
    description:
      "Use this to keep a finished text, such as a report. With `output_id`, saves a new version; earlier versions do not change. Returns its id and slug.",
    core: ["body", "title", "output_id", "scope", "project_id", "change_note"],
    aliases: { body: ["content", "text", "markdown"], title: ["name"], output_id: ["id"] },
    answers: ["id", "slug", "title", "scope", "current_version_num"],
  },
});

export const listOutputs = operation({
  action: "outputs.list",
  route: "GET /outputs",
  summary: "List outputs",
  description:
    "Use this to browse or filter; to find by meaning, search. Returns readable outputs without their texts.",
  access: reader,
  query: {
    ...page,
    cursor: Cursor,
    ...optional({
      scope: { ...Scope, description: "Only outputs of this scope." },
      project_id: AnyText(100, "Key of a project; empty: only outputs without one."),
      process_run_id: Type.String({
        maxLength: 100,
        "x-identifier": "run",
        pattern: "^([0-9A-Fa-f-]{36})?$",
        description: "Only outputs of this run.",
      }),
      tags: Type.Array(Type.String(), {
        maxItems: 50,
        description: "Only with any of these tags; repeated or comma-separated.",
      }),
      sort: AnyText(50, "`created_at` (default) or `title`."),
      order: AnyText(50, "`asc` or `desc`. Default: newest first, or titles from A."),
    }),
  },
  answer: Type.Object({
    outputs: Type.Array(Output),
    total: Type.Integer(),
    next_cursor: nullable(Type.String()),
  }),
  mcp: true,
});

export const getOutput = operation({
  action: "outputs.get",
  route: "GET /outputs/{output_id}",
  summary: "Read an output",
  description: "Returns the output with its text; with `version`, the text and title of that version.",
  access: reader,
  path,
  query: {
    version: Type.Optional(Whole({ minimum: 1, description: "Version number. Default: the current one." })),
  },
  fromBlob: { field: "body" },
  answer: Output,
  mcp: {
    description:
      "Use this to get the whole text of an output. Returns its text, title and version; with `version`, those of that version.",
    core: ["output_id", "version"],
    aliases: { output_id: ["id", "slug", "name"], version: ["version_num"] },
    answers: [
      ...["id", "slug", "title", "body", "scope", "project_id", "current_version_num", "metadata?"],
      ...["superseded_by", "updated_at"],
    ],
  },
});

export const updateOutput = operation({
  action: "outputs.update",
  route: "PATCH /outputs/{output_id}",
  summary: "Change an output's project or tags",
  description:
    "Use this to file an output in another project; its text does not change. A null `project_id` removes it from its project. Only people can set tags. Returns both.",
  access: writer,
  audit: true,
  path,
  body: optional({ project_id: nullable(ProjectKey), tags: TagsInput }),
  answer: Type.Object({
    id: Uuid("output"),
    project_id: nullable(ProjectKey),
    tags: Type.Array(Type.String()),
  }),
  errors: ["forbidden"],
  mcp: true,
});

export const deleteOutput = operation({
  action: "outputs.delete",
  route: "DELETE /outputs/{output_id}",
  summary: "Delete an output with all its versions",
  description:
    "Use this to delete an output permanently: the text of every version is deleted. Only its owner and admins can delete it. Returns nothing.",
  access: writer,
  path,
  errors: ["forbidden"],
  mcp: true,
});

export const listOutputVersions = operation({
  action: "outputs.list_versions",
  route: "GET /outputs/{output_id}/versions",
  summary: "List an output's versions, newest first",
  description:
    "Use this to see how an output changed. Returns titles, authors and change notes, without the texts.",
  access: reader,
  path,
  answer: Type.Object({ versions: Type.Array(OutputVersion) }),
  mcp: true,
});

export const getOutputVersion = operation({
  action: "outputs.get_version",
  route: "GET /outputs/{output_id}/versions/{version_num}",
  summary: "Read a version of an output",
  description: "Use this to compare versions. Returns the version's text, title and author.",
  access: reader,
  path: {
    ...path,
    version_num: Type.String({
      pattern: "^([1-9][0-9]{0,8}|[0-9a-fA-F-]{36})$",
      "x-identifier": "output_version",
      examples: ["1"],
      description: "Number or id of the version.",
    }),
  },
  fromBlob: { field: "body" },
  answer: OutputVersion,
  mcp: true,
});
