import { EventEmitter } from "node:events";
import { describe, expect, jest, test } from "@jest/globals";
import { notFound } from "../../../../lib/contract/faults.ts";
import { settle } from "../../../../test/support/settle.ts";
import { CallersTasks } from "../../callers-tasks.ts";
import { follow, toKnown, updatesSince } from "../../follow.ts";
import { isFinal, type TaskJson, withMessage, withProgress } from "../../tasks/task.ts";

const AT = new Date("2026-01-31T09:30:00Z");
const SIDE = { tenant_id: "tn_a", agent_id: "ag_a", caller_id: "ag_b" };

const task: TaskJson = {
  ...{ id: "t", contextId: "c", artifacts: [], history: [] },
  status: { state: "TASK_STATE_SUBMITTED", timestamp: AT.toISOString() },
};

test("a caller reads faults, and nothing of other failures, which are logged", async () => {
  const error = jest.fn();
  const failing = (err: Error) =>
    new CallersTasks({ call: () => Promise.reject(err) }, SIDE, { log: { error } } as never).read("read", {});
  await expect(failing(notFound("a2a_task", "t"))).rejects.toMatchObject({ type: "not_found" });
  expect(error).not.toHaveBeenCalled();
  const secret = new Error("connect ECONNREFUSED 10.0.0.7:27017");
  await expect(failing(secret)).rejects.toThrow("The service failed unexpectedly. Repeat the request.");
  expect(error).toHaveBeenCalledWith({ err: secret }, expect.any(String));
});

test("on a full disk tasks are read and removed, and nothing is written", async () => {
  const called: string[] = [];
  const call = async (name: string) => void called.push(name);
  const runtime = { disk: { refusesWrites: true }, modes: { requireWrites: () => {} } };
  const tasks = new CallersTasks({ call } as never, SIDE, runtime as never);
  const full = { type: "service_unavailable", data: { retry_after_seconds: 30 } };
  await expect(tasks.write("send", {})).rejects.toMatchObject(full);
  expect(called).toEqual([]);
  await tasks.read("list", { limit: 1 });
  await tasks.write("delete_push", {}, "DELETE");
  expect(called).toEqual(["a2a_tasks.list", "a2a_tasks.delete_push"]);
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
  const updates = updatesSince(toKnown({ task: first, version: 1 }), next).map((text) => JSON.parse(text));
  expect(updates).toMatchObject([
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

describe("a followed task", () => {
  const note = (text: string, state: "working" | "completed" = "working") =>
    withProgress(task, { state, message: text }, text, AT);
  const waiting = { ended: new AbortController().signal, recheck: () => {} };
  const messageIn = (update = "") => JSON.parse(update).statusUpdate.status.message.parts[0].text;

  test("yields what changed, several changes as one to a slow reader, and ends with the last state", async () => {
    let current = { task, version: 1 };
    const changes = new EventEmitter();
    const read = async (_: string, { version }: never) => (version === current.version ? null : current);
    const change = (next: TaskJson) => {
      current = { task: next, version: current.version + 1 };
      changes.emit("t");
    };
    const follower = follow(
      { side: SIDE, tasks: { read } as never, changes, waiting },
      toKnown(current),
      isFinal,
    );
    const first = follower.next();
    change(note("one"));
    expect((await first).value?.map(messageIn)).toEqual(["one"]);
    for (const text of ["a", "b", "c"]) change(note(text));
    expect((await follower.next()).value?.map(messageIn)).toEqual(["c"]);
    const last = follower.next();
    await settle(() => changes.listenerCount("t") > 0);
    change(note("done", "completed"));
    expect((await last).value?.map(messageIn)).toEqual(["done"]);
    expect(await follower.next()).toEqual({ done: true, value: undefined });
  });

  test("is read once a change, however many follow it", async () => {
    let current = { task, version: 1 };
    let reads = 0;
    const read = async (_: string, { version }: never) => {
      reads++;
      return version === current.version ? null : current;
    };
    const changes = new EventEmitter().setMaxListeners(0);
    const following = { side: SIDE, tasks: { read } as never, changes, waiting };
    const followers = Array.from({ length: 60 }, () => follow(following, toKnown(current), isFinal));
    for (const text of ["a", "b", "c"]) {
      const updates = followers.map((follower) => follower.next());
      current = { task: note(text), version: current.version + 1 };
      changes.emit("t");
      for (const update of updates) expect((await update).value?.map(messageIn)).toEqual([text]);
    }
    expect(reads).toBeLessThanOrEqual(6);
    await new Promise(setImmediate);
  });

  test("that cannot be read any more ends all who follow it", async () => {
    const gone = notFound("a2a_task", "t");
    const tasks = { read: () => Promise.reject(gone) };
    const from = toKnown({ task, version: 1 });
    const follower = follow({ side: SIDE, tasks, changes: new EventEmitter(), waiting }, from, isFinal);
    await expect(follower.next()).rejects.toBe(gone);
  });
});
