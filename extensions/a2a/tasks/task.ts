import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidValue, quoted } from "../../../lib/contract/faults.ts";
import { TASK_STATES, type TaskState, type updateA2aTask } from "./a2a-tasks.contract.ts";

/** Bytes of a task as JSON: it travels between nodes in one message. */
export const MAX_TASK = 768 * 1024;

/** A message in the JSON of A2A 1.0. */
export interface MessageJson {
  messageId: string;
  role: "ROLE_USER" | "ROLE_AGENT";
  parts: unknown[];
  taskId?: string;
  contextId?: string;
}

interface ArtifactJson {
  artifactId: string;
  name?: string;
  parts: unknown[];
}

/** A task in the JSON of A2A 1.0. */
export interface TaskJson {
  id: string;
  contextId: string;
  status: { state: TaskState; timestamp: string; message?: MessageJson };
  artifacts: ArtifactJson[];
  history: MessageJson[];
}

export const FINAL = TASK_STATES.slice(TASK_STATES.indexOf("TASK_STATE_COMPLETED"));

/** Whether a task in this state never changes again. */
export const isFinal = (state: TaskState): boolean => FINAL.includes(state);

/** Whether the caller has to act before anything more happens. */
export const isPaused = (state: TaskState): boolean =>
  isFinal(state) || state === "TASK_STATE_INPUT_REQUIRED";

/** Adds a message of the caller. A task that waited for it is submitted to the agent again. */
export function withMessage(task: TaskJson, message: MessageJson, at: Date): TaskJson {
  const history = [...task.history, { ...message, taskId: task.id, contextId: task.contextId }];
  if (task.status.state !== "TASK_STATE_INPUT_REQUIRED") return { ...task, history };
  return { ...task, history, status: { state: "TASK_STATE_SUBMITTED", timestamp: at.toISOString() } };
}

/** An agent's report of a task. */
type Progress = Omit<ParamsOf<typeof updateA2aTask>, "task_id">;
type GivenArtifact = NonNullable<Progress["artifacts"]>[number];

const CONTENTS = ["text", "data", "url", "raw"] as const;

/** Applies an agent's report: an artifact replaces the one with the same id. @throws Fault validation_error */
export function withProgress(task: TaskJson, progress: Progress, messageId: string, at: Date): TaskJson {
  const message: MessageJson | undefined =
    progress.message === undefined
      ? undefined
      : {
          ...{ messageId, role: "ROLE_AGENT", taskId: task.id, contextId: task.contextId },
          parts: [{ text: progress.message }],
        };
  const artifacts = new Map(task.artifacts.map((artifact) => [artifact.artifactId, artifact]));
  for (const artifact of progress.artifacts ?? []) {
    const { artifact_id, name } = artifact;
    artifacts.set(artifact_id, {
      artifactId: artifact_id,
      ...(name && { name }),
      parts: [toPart(artifact)],
    });
  }
  const state = `TASK_STATE_${progress.state.toUpperCase()}` as TaskState;
  return {
    ...task,
    status: { state, timestamp: at.toISOString(), ...(message && { message }) },
    artifacts: [...artifacts.values()],
    history: message ? [...task.history, message] : task.history,
  };
}

function toPart({ artifact_id, filename, media_type, ...given }: GivenArtifact): object {
  const contents = CONTENTS.filter((name) => given[name] !== undefined && given[name] !== null);
  if (contents.length !== 1) {
    const message = `artifacts: expected one of ${CONTENTS.join(", ")} in ${quoted(artifact_id)}.`;
    throw invalidValue("artifacts", message);
  }
  const [content] = contents as [(typeof CONTENTS)[number]];
  const mediaType = media_type ?? (content === "text" ? "text/plain" : undefined);
  return { [content]: given[content], ...(filename && { filename }), ...(mediaType && { mediaType }) };
}

/** A push notification configuration in the JSON of A2A 1.0. */
export interface PushConfigJson extends PushSecrets {
  id?: string;
  taskId: string;
  url: string;
}

/** Secrets that authenticate notifications to a webhook. */
export interface PushSecrets {
  token?: string;
  authentication?: { scheme: string; credentials?: string };
}

/** Whose tasks: those that one caller gave to one agent. */
export interface Side {
  tenant_id: string;
  agent_id: string;
  caller_id: string;
}

export type OfTask = Side & { task_id: string };
export type OfConfig = OfTask & { config_id: string };

/** A task and the number of its changes. */
export interface Versioned {
  task: TaskJson;
  version: number;
}
