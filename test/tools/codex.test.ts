/** @needs codingtools */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { codexProgram, hasCodingTools } from "../support/coding-tools.ts";
import {
  expectHandled,
  expectSaved,
  expectTold,
  startToolSessions,
  type ToolSessions,
} from "../support/tool-sessions.ts";

let there: ToolSessions;

const suite = hasCodingTools() ? describe : describe.skip;

suite("Codex", () => {
  beforeAll(async () => {
    there = await startToolSessions({ codex: [codexProgram()] }, (home, model) => {
      mkdirSync(join(home, ".codex"));
      const config = `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "${model}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
`;
      writeFileSync(join(home, ".codex/config.toml"), config);
      return { CODEX_HOME: join(home, ".codex"), SCRIPTED_KEY: "scripted" };
    });
    await there.install("packages/integrations/codex/README.md");
  });

  afterAll(() => there?.stop());

  async function ask(prompt: string): Promise<string> {
    // The hooks are reviewed in the terminal's interface only; the sandbox needs what containers may not have.
    const trusted = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"];
    const { code, output } = await there.run(["codex", "exec", ...trusted, prompt]);
    expect({ code, output }).toMatchObject({ code: 0 });
    return output;
  }

  test("a session leaves a handoff, and the next one begins with it", async () => {
    const output = await ask("Pack the third parcel");
    expect(output).toContain("The third parcel is packed.");
    expect(output).not.toContain("clamping");
    await expectSaved(there, "codex");
    await ask("Now the fourth");
    const { input } = there.model.steps().at(-1)?.body ?? {};
    expect(JSON.stringify(input)).toContain("From Sensorium");
    expect(JSON.stringify(input)).toContain("touch third.txt");
    const { output: servers } = await there.run(["codex", "mcp", "list"]);
    expect(servers).toMatch(/^sensorium +sensorium +mcp .*enabled/m);
  });

  test("each turn is told which events wait", async () => {
    await expectTold(
      there,
      () => ask("What is new?"),
      () => JSON.stringify(there.model.steps().at(-1)?.body.input),
    );
  });

  test("is started for an event, with its text as data", async () => {
    await expectHandled(there, [
      "codex",
      "exec",
      ...["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"],
      "-",
    ]);
  });
});
