import { expect, jest, test } from "@jest/globals";
import { notFound } from "../../lib/contract/faults.ts";
import { CallersTasks } from "../../services/edge/a2a/callers-tasks.ts";
import { updatesBetween } from "../../services/edge/a2a/follow.ts";
import { type TaskJson, withMessage, withProgress } from "../../services/work/a2a/task.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const SIDE = { tenant_id: "tn_a", agent_id: "ag_a", caller_id: "ag_b" };

const task: TaskJson = {
  ...{ id: "t", contextId: "c", artifacts: [], history: [] },
  status: { state: "TASK_STATE_SUBMITTED", timestamp: AT.toISOString() },
};

test("a caller reads faults, and nothing of other failures, which are logged", async () => {
  const error = jest.fn();
  const failing = (err: Error) =>
    new CallersTasks({ call: () => Promise.reject(err) }, SIDE, { error } as never).read("t");
  await expect(failing(notFound("a2a_task", "t"))).rejects.toMatchObject({ type: "not_found" });
  expect(error).not.toHaveBeenCalled();
  const secret = new Error("connect ECONNREFUSED 10.0.0.7:27017");
  await expect(failing(secret)).rejects.toThrow("The service failed unexpectedly. Repeat the request.");
  expect(error).toHaveBeenCalledWith({ err: secret }, expect.any(String));
});

test("an artifact with a known id is replaced, and only what changed is streamed", () => {
  const artifact = (artifact_id: string, text: string) => ({ artifact_id, text });
  const first = withProgress(
    task,
    { state: "working", artifacts: [artifact("a", "1"), artifact("b", "2")] },
    "m",
    AT,
  );
  const next = withProgress(first, { state: "working", artifacts: [artifact("a", "3")] }, "m", AT);
  expect(next.artifacts.map(({ artifactId }) => artifactId)).toEqual(["a", "b"]);
  expect(updatesBetween(first, next)).toMatchObject([
    {
      artifactUpdate: { taskId: "t", contextId: "c", artifact: { artifactId: "a", parts: [{ text: "3" }] } },
    },
  ]);
});

test("an artifact has one content: text, JSON, an address or a file", () => {
  const partsOf = (content: object) =>
    withProgress(task, { state: "completed", artifacts: [{ artifact_id: "a", ...content }] }, "m", AT)
      .artifacts[0]?.parts;
  expect(partsOf({ text: "x" })).toEqual([{ text: "x", mediaType: "text/plain" }]);
  expect(partsOf({ data: false })).toEqual([{ data: false }]);
  const file = { raw: "eA==", filename: "x.txt", media_type: "text/plain" };
  expect(partsOf(file)).toEqual([{ raw: "eA==", filename: "x.txt", mediaType: "text/plain" }]);
  expect(partsOf({ url: "https://example.com/x" })).toEqual([{ url: "https://example.com/x" }]);
  for (const wrong of [{}, { data: null }, { text: "x", url: "https://example.com/x" }])
    expect(() => partsOf(wrong)).toThrow('artifacts: expected one of text, data, url, raw in "a".');
});

test("a message submits a task again only if it was waited for", () => {
  const message = { messageId: "m", role: "ROLE_USER" as const, parts: [{ text: "x" }] };
  const working = withProgress(task, { state: "working" }, "p", AT);
  const waiting = withProgress(task, { state: "input_required", message: "Which?" }, "p", AT);
  expect(withMessage(working, message, AT).status.state).toBe("TASK_STATE_WORKING");
  expect(withMessage(waiting, message, AT).status).toEqual(task.status);
  expect(withMessage(waiting, message, AT).history.map(({ messageId }) => messageId)).toEqual(["p", "m"]);
});
