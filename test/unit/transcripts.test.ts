import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { cut } from "../../packages/client/cli/hooks/text.ts";
import { readTranscript } from "../../packages/client/cli/hooks/transcript.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = await ownFolder();

/** Reads a transcript with these records. */
function read(...records: (object | string)[]) {
  const file = join(folder, `${records.length}.jsonl`);
  writeFileSync(
    file,
    records.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("\n"),
  );
  return readTranscript(file);
}

test("reads what Claude Code writes", async () => {
  const user = (content: unknown, more = {}) => ({
    type: "user",
    message: { role: "user", content },
    ...more,
  });
  const calls = (name: string, input: object) => ({
    type: "assistant",
    message: { role: "assistant", content: [{ type: "tool_use", id: "t", name, input }] },
  });
  const session = await read(
    user("<command-name>/clear</command-name>"),
    user("Pack the third parcel <system-reminder>be brief</system-reminder>"),
    { type: "api-request-blob", message: { role: "user", content: "Pack the third parcel, again" } },
    calls("Bash", { command: "ls parcels" }),
    user([{ type: "tool_result", content: "three" }]),
    calls("Write", { file_path: "/work/a.txt", content: "secret" }),
    calls("Read", { file_path: "/work/unchanged.txt" }),
    calls("TaskCreate", { subject: "Weigh it" }),
    user([{ type: "tool_result" }], { toolUseResult: { task: { id: "1", subject: "Weigh it" } } }),
    user([{ type: "tool_result" }], { toolUseResult: { task: { id: "2", subject: "Send it" } } }),
    calls("TaskUpdate", { taskId: "1", status: "completed" }),
    user("A subagent's task", { isSidechain: true }),
    user("The summary so far", { isCompactSummary: true }),
    { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "It is packed." }] } },
    '{"type": "user", "message": {"role": "user", "content": "cut o',
  );
  expect(session).toEqual({
    ...{ requests: ["Pack the third parcel"], answer: "It is packed.", files: ["/work/a.txt"] },
    commands: ["ls parcels"],
    todos: [
      { text: "Weigh it", done: true },
      { text: "Send it", done: false },
    ],
  });
});

test("reads what Codex writes", async () => {
  const item = (payload: object) => ({ type: "response_item", payload });
  const says = (role: string, text: string) =>
    item({ type: "message", role, content: [{ type: "input_text", text }] });
  const calls = (name: string, args: object) =>
    item({ type: "function_call", name, arguments: JSON.stringify(args) });
  const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** Add File: src/b.ts\n*** End Patch";
  const session = await read(
    { type: "session_meta", payload: { id: "x", instructions: "None" } },
    says("developer", "Rules"),
    says("user", "<environment_context><cwd>/work</cwd></environment_context>"),
    says("user", "# AGENTS.md instructions for /work\n\nBe brief."),
    says("user", "Pack the third parcel"),
    { type: "event_msg", payload: { type: "item_completed", item: { type: "UserMessage", content: [] } } },
    calls("exec_command", { cmd: "ls parcels" }),
    calls("shell", { command: ["bash", "-lc", "git status"] }),
    item({ type: "custom_tool_call", name: "apply_patch", input: patch }),
    calls("update_plan", {
      plan: [
        { step: "Weigh it", status: "completed" },
        { step: "Send it", status: "pending" },
      ],
    }),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "It is packed." }] }),
  );
  expect(session).toEqual({
    ...{ requests: ["Pack the third parcel"], answer: "It is packed.", files: ["src/a.ts", "src/b.ts"] },
    commands: ["ls parcels", "git status"],
    todos: [
      { text: "Weigh it", done: true },
      { text: "Send it", done: false },
    ],
  });
});

test("reads what Gemini CLI writes, as lines and as one document", async () => {
  const messages = [
    { type: "user", content: [{ text: "<session_context>Linux</session_context>" }] },
    { type: "user", content: [{ text: "<hook_context>A brief</hook_context>\n\nPack the third parcel" }] },
    {
      type: "gemini",
      content: "",
      toolCalls: [
        { name: "write_file", args: { file_path: "a.txt", content: "x" } },
        { name: "run_shell_command", args: { command: "ls parcels" } },
        { name: "write_todos", args: { todos: [{ description: "Send it", status: "pending" }] } },
      ],
    },
    { type: "user", content: [{ functionResponse: { name: "write_file", response: {} } }] },
    { type: "gemini", content: "It is packed." },
  ];
  const read_ = {
    ...{ requests: ["Pack the third parcel"], answer: "It is packed.", files: ["a.txt"] },
    ...{ commands: ["ls parcels"], todos: [{ text: "Send it", done: false }] },
  };
  expect(await read({ sessionId: "x", kind: "main" }, ...messages, { $set: { lastUpdated: "now" } })).toEqual(
    read_,
  );
  expect(await read(JSON.stringify({ sessionId: "x", messages }, null, 2))).toEqual(read_);
});

test("reads what Cursor writes", async () => {
  const session = await read(
    { role: "user", message: { content: [{ type: "text", text: "<user_query>\nPack it\n</user_query>" }] } },
    {
      role: "assistant",
      message: {
        content: [
          { type: "tool_use", name: "Shell", input: { command: "ls parcels" } },
          { type: "tool_use", name: "StrReplace", input: { path: "/work/a.txt" } },
          { type: "tool_use", name: "TodoWrite", input: { todos: [{ content: "Send", status: "pending" }] } },
          { type: "text", text: "It is packed." },
        ],
      },
    },
  );
  expect(session).toEqual({
    ...{ requests: ["Pack it"], answer: "It is packed.", files: ["/work/a.txt"], commands: ["ls parcels"] },
    todos: [{ text: "Send", done: false }],
  });
});

test("takes whatever is there for a transcript", async () => {
  const none = { requests: [], files: [], commands: [], todos: [] };
  expect(await readTranscript(undefined)).toEqual(none);
  expect(await readTranscript(join(folder, "missing"))).toEqual(none);
  await expect(readTranscript(folder)).rejects.toThrow("cannot be read");
  const odd = [null, 7, [], {}, { type: "user" }, { type: "user", message: 3, content: [null, 4] }];
  expect(await read("", "{", "\0", ...odd.map((each) => JSON.stringify(each)))).toEqual(none);
});

test("a text is cut at whole characters", () => expect(cut("parcels 📦📦", 10)).toBe("parcels …"));
