import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";
import { order, register, SHOP, send } from "../support/webhooks.ts";

test("the log says which previous secret signed, and when it ended", async () => {
  const NODE_OPTIONS = `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`;
  await using later = await startAlone({
    env: { NODE_OPTIONS, EMBEDDER: "none", CLOCK_STEP_MS: String(25 * 60 * 60 * 1000) },
  });
  const { admin, tenant_slug } = later.credentials;
  const signedIn = async () => api(later, await signIn(later, admin, tenant_slug));
  const before = await signedIn();
  const hook = await register(before, SHOP);
  const { previous_ends_at } = ok(await before.post(`/ingest/webhooks/${hook.id}:rotate`, {}));
  process.kill(later.pid(), "SIGUSR2");
  await settle(() => later.logs().includes("the clock is set"));
  const after = await signedIn();
  let reason: string | undefined;
  await settle(async () => {
    expect((await send(hook, order())).status).toBe(401);
    const { requests } = ok(await after.get(`/ingest/webhooks/${hook.id}/requests`));
    reason = requests[0]?.reason;
    return reason !== undefined;
  });
  expect(reason).toBe(`signed with the previous secret, which ended at ${previous_ends_at}`);
});
