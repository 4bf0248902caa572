import { Type } from "typebox";
import { component, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, SomeText, Timestamp, Uuid } from "../../../lib/contract/schema.ts";

/** States of a task, as A2A 1.0 names them; the final ones come last. */
export const TASK_STATES = [
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_CANCELED",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** States that an agent may set, as operations name them. */
const AGENT_STATES = ["working", "input_required", "completed", "failed", "rejected"] as const;

const receiver = { by: "agent", scope: "receive" } as const;

export const A2aTask = component("A2aTask", {
  id: Uuid("a2a_task", "Id of the A2A task."),
  agent_id: Id("ag"),
  context_id: Type.String({ description: "Groups the tasks of a conversation." }),
  state: oneOf(TASK_STATES, { description: "State, as A2A names it." }),
  task: Type.Record(Type.String(), Type.Unknown(), {
    description: "The task in the JSON of A2A 1.0: `status`, `history` and `artifacts`.",
    examples: [{ status: { state: "TASK_STATE_SUBMITTED" }, history: [], artifacts: [] }],
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

/** The data of `service.a2a.*`. */
export const A2aTaskNotice = component("A2aTaskNotice", {
  task_id: A2aTask.properties.id,
  context_id: A2aTask.properties.context_id,
});

/** Events that the service publishes about tasks. */
export const A2A_EVENTS = {
  "service.a2a.canceled": {
    means: "The caller canceled an A2A task. Delivered to the task's agent alone.",
    data: A2aTaskNotice,
  },
  "service.a2a.message": {
    means: "The caller of an A2A task sent a message. Delivered to the task's agent alone.",
    data: A2aTaskNotice,
  },
};

const Artifact = Type.Object({
  artifact_id: SomeText(200, "Id in the task; an artifact with the same id is replaced.", "report"),
  ...optional({
    name: SomeText(200, "Name of the artifact.", "Report"),
    text: Type.String({
      description: "Content as text. Give one of `text`, `data`, `url` and `raw`.",
      examples: ["# Report\n"],
    }),
    data: Type.Unknown({ description: "Content as JSON.", examples: [{ total: 5 }] }),
    url: AnyText(2048, "Address of a file with the content.", "https://example.com/report.pdf"),
    raw: Type.String({
      pattern: "^[A-Za-z0-9+/]*={0,2}$",
      description: "Content of a file, in base64.",
      examples: ["JVBERi0xLjcK"],
    }),
    filename: SomeText(200, "Name of the file.", "report.pdf"),
    media_type: AnyText(200, "Media type of the content. Default for `text`: `text/plain`.", "text/markdown"),
  }),
});

export const getA2aTask = operation({
  action: "a2a_tasks.get",
  route: "GET /a2a-tasks/{task_id}",
  path: { task_id: A2aTask.properties.id },
  summary: "Read an A2A task given to the agent",
  description:
    "Use this to work on a task of another agent. Returns the messages of the caller. The event `service.a2a.message` announces each, with the `task_id`.",
  access: receiver,
  answer: A2aTask,
  mcp: true,
});

export const updateA2aTask = operation({
  action: "a2a_tasks.update",
  route: "POST /a2a-tasks/{task_id}/status",
  path: { task_id: A2aTask.properties.id },
  summary: "Report the state of an A2A task",
  description:
    "Use this to tell the caller how the task goes, with an optional message and artifacts. Returns the task. `completed`, `failed` and `rejected` are final: later reports are refused with `conflict`, as are reports of a task that the caller canceled.",
  access: receiver,
  body: {
    state: oneOf(AGENT_STATES, {
      description: "`input_required`: the message asks the caller for more.",
      examples: ["completed"],
    }),
    message: Type.Optional(
      Type.String({ minLength: 1, description: "Text for the caller.", examples: ["Done."] }),
    ),
    artifacts: Type.Optional(Type.Array(Artifact, { maxItems: 100, description: "Results of the task." })),
  },
  answer: A2aTask,
  errors: ["conflict"],
  mcp: true,
});
