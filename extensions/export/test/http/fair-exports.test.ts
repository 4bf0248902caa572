/** @alone: queues within one process. */
import { expect, test } from "@jest/globals";
import type { Answer, Api } from "../../../../test/support/http.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, type World } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

const EXPORTS = 12;
/** Exports of one person in progress and waiting. */
const TAKEN = 1 + 4;
/** Seconds of work as PDF. */
const LONG = "Some **bold** words in a line, and *more* of it.\n\n".repeat(40_000);

const server = await useServer({
  env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", OUTPUT_EXPORT: "true" },
});
const [crowded, calm] = await Promise.all([makeWorld(server, "crowded"), makeWorld(server, "calm")]);

const save = async ({ agent }: World, body: string) =>
  ok(await agent.post("/outputs", { body, scope: "institutional" })).id as string;

test("exports continue despite any number of another tenant's and a colleague's; too many get 429", async () => {
  const long = await save(crowded, LONG);
  const [own, colleagues] = [await save(calm, "# Mine"), await save(crowded, "# Ours")];
  const answers: Answer[] = [];
  const ask = async (by: Api) => void answers.push(await by.get(`/outputs/${long}/export?format=pdf`));
  const all = Array.from({ length: EXPORTS }, () => ask(crowded.admin));
  // The others are in work or wait.
  await settle(() => answers.length === EXPORTS - TAKEN);
  for (const answer of answers) {
    await refused(answer, "rate_limited", { retry_after_seconds: 1 });
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect(await calm.admin.get(`/outputs/${own}/export?format=html`)).toMatchObject({ status: 200 });
  const found = await crowded.member.get(`/outputs/${colleagues}/export?format=html`);
  expect(found).toMatchObject({ status: 200 });
  // None of them was waited for.
  expect(answers).toHaveLength(EXPORTS - TAKEN);
  await Promise.all(all);
});
