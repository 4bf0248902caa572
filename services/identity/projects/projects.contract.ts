import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, Name, page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";

export const PROJECT_STATUSES = ["active", "completed", "archived"] as const;

/** The value of `project_id` elsewhere. */
const key = {
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
  "x-expected": "up to 100 letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
  examples: ["apollo"],
  description:
    "Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and `-`; not a UUID. Immutable.",
};
const NewKey = Type.String(key);
const ProjectKey = Type.String({ ...key, "x-identifier": "project" });

const Status = oneOf(PROJECT_STATUSES, { description: "Status of the project.", examples: ["active"] });

const TargetDate = nullable(
  Type.String({
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9:.]{5,}([Zz]|[+-][0-9:]{2,}))?$",
    "x-format": "date-or-date-time",
    description: "Date, or date and time (RFC 3339), by which the project is due; null: none.",
    examples: ["2026-12-31"],
  }),
);

export const Project = component("Project", {
  id: Uuid("project"),
  tenant_id: Id("tn"),
  key: ProjectKey,
  name: Name,
  status: Status,
  target_date: TargetDate,
  created_from_backfill: Type.Boolean({
    description: "Created automatically for existing resources that named it.",
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const listProjects = operation({
  action: "projects.list",
  route: "GET /projects",
  summary: "List projects, by key",
  description:
    "Use this to find the `key` that other tools take as `project_id`. Returns one page and the `total`.",
  access: { by: "any", scope: "memory:read" },
  query: { status: Type.Optional(Status), ...page },
  answer: Type.Object({ projects: Type.Array(Project), total: Type.Integer() }),
  mcp: true,
});

const admin = { by: "any", scope: "admin" } as const;

export const createProject = operation({
  action: "projects.create",
  route: "POST /projects",
  summary: "Create a project",
  description: "Memories, outputs and runs are assigned to a project by its `key`.",
  access: admin,
  body: {
    key: NewKey,
    name: Type.Optional(Name),
    status: Type.Optional(Status),
    target_date: Type.Optional(TargetDate),
  },
  results: { 201: Project },
  errors: ["conflict", "validation_error"],
});

export const updateProject = operation({
  action: "projects.update",
  route: "PATCH /projects/{key}",
  summary: "Rename, date, complete or archive a project",
  description: "Omitted fields do not change; a null `target_date` removes the date.",
  access: admin,
  path: { key: ProjectKey },
  body: optional({
    name: Name,
    status: Status,
    target_date: TargetDate,
  }),
  answer: Project,
  errors: ["not_found"],
});
