/** @needs codingtools */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AGENT_SDK, CLAUDE, hasCodingTools } from "../support/coding-tools.ts";
import {
  expectHandled,
  expectSaved,
  expectTold,
  ROOT,
  startToolSessions,
  type ToolSessions,
} from "../support/tool-sessions.ts";

const README = "packages/integrations/claude-code/README.md";
const PLUGIN = join(ROOT, "packages/integrations/claude-code");
let there: ToolSessions;

const suite = hasCodingTools() ? describe : describe.skip;

suite("Claude Code", () => {
  beforeAll(async () => {
    there = await startToolSessions({ claude: [CLAUDE] }, (_home, model) => ({
      ...{ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: "scripted" },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
      // The machine may be slow; the default is what the README says.
      CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: "20000",
    }));
    await there.install(README);
  });

  afterAll(() => there?.stop());

  /** Asks in one session, which then ends. */
  async function ask(...args: string[]): Promise<string> {
    const { code, output } = await there.run(["claude", "--allowedTools", "Bash", ...args]);
    expect({ code, output }).toMatchObject({ code: 0 });
    return output;
  }

  /** The system prompts of the latest request. */
  const context = () => JSON.stringify(there.model.steps().at(-1)?.body.messages);

  test("a session leaves a handoff, and the next one begins with it", async () => {
    await there.agent.memories.create({
      title: "Parcels over 30 kg go by freight",
      ...{ content: "The third parcel weighs 40 kg.", type: "semantic", scope: "agent" },
    });
    expect(await ask("-p", "Pack the third parcel")).toContain("The third parcel is packed.");
    await expectSaved(there, "claude-code", { branch: "main" });
    await ask("-p", "Now the fourth");
    expect(context()).toContain("touch third.txt");
    expect(context()).toContain("The third parcel weighs 40 kg.");
    const { output } = await there.run(["claude", "mcp", "list"]);
    expect(output).toMatch(/^plugin:sensorium:sensorium: sensorium mcp .*Connected$/m);
  });

  test("before it is compacted a session is saved, and afterwards it begins with that", async () => {
    await ask("-p", "Weigh the fifth");
    await ask("--continue", "-p", "/compact");
    const [saved] = await there.agent.handoffs.list();
    expect(saved).toMatchObject({ summary: "Weigh the fifth" });
    expect(saved?.version_num).toBeGreaterThan(1);
    await ask("--continue", "-p", "And the sixth");
    expect(context()).toContain(`# Handoff: ${saved?.name}`);
    expect(await there.agent.handoffs.list()).toMatchObject([
      { name: saved?.name, payload: { requests: ["Weigh the fifth", "And the sixth"] } },
      {},
      {},
    ]);
  });

  test("without a server, and with a wrong key, sessions are as before", async () => {
    const wrong: Record<string, string>[] = [
      { SENSORIUM_URL: "http://127.0.0.1:1" },
      { SENSORIUM_API_KEY: "ak_live_wrong" },
    ];
    for (const env of wrong) {
      const { code, output } = await there.run(["claude", "-p", "Anything"], { env });
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("is packed.") });
      expect(context()).not.toContain("From Sensorium");
    }
  });

  test("the Claude Agent SDK loads the plugin from its folder", async () => {
    const [, block = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, README), "utf8")) ?? [];
    const program = block
      .replace("@anthropic-ai/claude-agent-sdk", AGENT_SDK)
      .replace("/path/to/sensorium/packages/integrations/claude-code", PLUGIN)
      .replace("{ plugins }", `{ plugins, settingSources: [], pathToClaudeCodeExecutable: "${CLAUDE}" }`);
    const file = join(there.home, "sdk.mts");
    writeFileSync(file, program);
    const { code, output } = await there.run([process.execPath, file]);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("result") });
    expect(context()).toContain("From Sensorium");
    expect(await there.agent.handoffs.list()).toMatchObject([
      { summary: "Pack the third parcel." },
      {},
      {},
      {},
    ]);
  });

  test("Claude Code finds no fault with the plugin and the marketplace", async () => {
    for (const folder of [PLUGIN, ROOT]) {
      const { code, output } = await there.run(["claude", "plugin", "validate", folder]);
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining("Validation passed"),
      });
      expect(output).not.toContain("passed with warnings");
    }
  });

  test("each turn is told which events wait", async () => {
    await expectTold(
      there,
      () => ask("-p", "What is new?"),
      () => context(),
    );
  });

  test("is started for an event, with its text as data", async () => {
    await expectHandled(there, ["claude", "-p", "--allowedTools", "Bash"]);
  });
});
