import { expect, test } from "@jest/globals";
import { cloudEvent, fannedOut, firstAgent } from "../support/agents.ts";
import { ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);

test("one event for three hundred members reaches each of them once", async () => {
  const { id } = ok(await admin.post("/channels", { name: "Everybody" }));
  ok(await admin.post(`/channels/${id}/feeds`, { event_type_glob: "com.wide.x" }));
  for (let n = 0; n < 300; n += 50) {
    const made = Array.from({ length: 50 }, () =>
      admin.post("/agents", { name: "member", delivery_mode: "poll" }),
    );
    for (const { body } of await Promise.all(made))
      ok(await admin.post(`/channels/${id}/members`, { agent_id: body.id }));
  }
  const { event_id } = ok(await admin.post("/events", cloudEvent("wide", { type: "com.wide.x" })));
  const answer = await fannedOut(admin, event_id);
  expect(answer).toMatchObject({ matched_count: 300, deliveries: { pending: 300 } });
});
