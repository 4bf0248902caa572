/** @needs codingtools */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { GEMINI, hasCodingTools } from "../support/coding-tools.ts";
import {
  expectHandled,
  expectSaved,
  expectTold,
  startToolSessions,
  type ToolSessions,
} from "../support/tool-sessions.ts";

let there: ToolSessions;

const suite = hasCodingTools() ? describe : describe.skip;

suite("Gemini CLI", () => {
  beforeAll(async () => {
    there = await startToolSessions({ gemini: [process.execPath, GEMINI] }, (home, model) => {
      mkdirSync(join(home, ".gemini"));
      const settings = {
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      };
      writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
      return { GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: model };
    });
    await there.install("packages/integrations/gemini-cli/README.md");
  });

  afterAll(() => there?.stop());

  async function ask(prompt: string): Promise<string> {
    const { code, output } = await there.run(["gemini", "--yolo", "--model", "gemini-2.5-pro", "-p", prompt]);
    expect({ code, output }).toMatchObject({ code: 0 });
    return output;
  }

  test("a session leaves a handoff, and the next one begins with it", async () => {
    expect(await ask("Pack the third parcel")).toContain("The third parcel is packed.");
    await expectSaved(there, "gemini-cli");
    await ask("Now the fourth");
    const { contents, tools } = there.model.steps().at(-1)?.body ?? {};
    expect(JSON.stringify(contents)).toContain("From Sensorium");
    expect(JSON.stringify(contents)).toContain("touch third.txt");
    expect(JSON.stringify(tools)).toContain("handoffs_resume");
  });

  test("each turn is told which events wait", async () => {
    await expectTold(
      there,
      () => ask("What is new?"),
      () => JSON.stringify(there.model.steps().at(-1)?.body.contents),
    );
  });

  test("is started for an event, with its text as data", async () => {
    await expectHandled(there, ["gemini", "--yolo", "--model", "gemini-2.5-pro"]);
  });
});
