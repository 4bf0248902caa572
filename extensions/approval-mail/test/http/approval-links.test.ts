import { expect, test } from "@jest/globals";
import { newAgent, receive } from "../../../../test/support/agents.ts";
import { type Api, api } from "../../../../test/support/http.ts";
import { type Received, startMail } from "../../../../test/support/mail.ts";
import { settle } from "../../../../test/support/settle.ts";
import {
  makeWorld,
  OPERATOR_TOKEN,
  ok,
  refusal,
  refused,
  signIn,
  type World,
} from "../../../../test/support/tenancy.ts";
import { use, useServer } from "../../../../test/support/use.ts";

const mail = use(await startMail());
const env = {
  ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", PUBLIC_FAILURES_PER_MINUTE: "8", EMBEDDER: "none" },
  ...{ SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SMTP_FROM: "Sensorium <sensorium@example.com>" },
};
const server = await useServer({ env });
const world = await makeWorld(server, "links");
const asker = await newAgent(server, world.admin, ["send", "receive"]);
const anyone = api(server);

const QUESTION = { title: "Ship it?", question: "All checks are green.\n```" };
const ask = async (more: object = {}) => ok(await asker.post("/approvals", { ...QUESTION, ...more }));

/** Returns the credentials of an e-mail's links by their choice. */
function tokensIn({ data }: Received): Record<string, string> {
  // Long lines are folded.
  const text = data.replace(/=\r?\n/g, "").replace(/=3D/g, "=");
  const links = [...text.matchAll(/^(\S+):\r?\n\S+\/answer#(\S+)/gm)];
  return Object.fromEntries(links.map(([, choice, token]) => [choice, token]));
}

const mailTo = (address: string) =>
  settle(() => mail.received.find(({ to }) => to.includes(address)), { what: `an e-mail to ${address}` });
const open = (token = "") => anyone.post("/approval-links:open", { token });
const answer = (token = "", more: object = {}) => anyone.post("/approval-links:answer", { token, ...more });

test("each assignee gets an e-mail, whose links answer once for this person", async () => {
  const { users } = ok(await world.admin.get("/users"));
  const [admin, member] = ["admin", "member"].map((role) =>
    users.find((user: { role: string }) => user.role === role),
  );
  const { id } = await ask({ assignees: ["admins", member.id] });
  const [toAdmin, toMember] = [await mailTo(admin.email), await mailTo(member.email)];
  expect(toAdmin.data).toContain("Subject: Ship it?");
  expect(toAdmin.data).toContain("````text\r\nAll checks are green.\r\n```\r\n````\r\n");
  expect(toAdmin.data).toContain(`/approvals/${id}`);
  const [theirs, others] = [tokensIn(toMember), tokensIn(toAdmin)];
  expect(Object.keys(theirs)).toEqual(["approve", "reject"]);
  expect(new Set([...Object.values(theirs), ...Object.values(others)]).size).toBe(4);

  // A scanner opens the page, and even runs it.
  const page = await fetch(`${server.root}/answer`, { headers: { accept: "text/html" } });
  expect(page.status).toBe(200);
  expect(ok(await open(theirs.reject))).toEqual({
    ...{ ...QUESTION, choice: "reject", text_allowed: true, evidence: [] },
    deadline_at: expect.any(String),
  });
  expect(ok(await world.admin.get(`/approvals/${id}`)).status).toBe("open");
  expect((await anyone.get(`/approval-links:answer?token=${theirs.reject}`)).status).toBe(405);

  const found = ok(await answer(theirs.reject, { text: "Not on a Friday." }));
  expect(found).toEqual({ title: "Ship it?", choice: "reject" });
  expect(ok(await world.admin.get(`/approvals/${id}`))).toMatchObject({
    ...{ status: "answered", choice: "reject", text: "Not on a Friday." },
    ...{ answered_by: "link", answered_by_user_id: member.id },
  });
  const [{ payload }] = await receive(asker, 1);
  expect(payload).toMatchObject({ type: "service.approval.answered", data: { choice: "reject" } });
  const { entries } = ok(await world.admin.get("/audit?action=approvals.answer_link"));
  expect(entries).toMatchObject([{ actor_id: member.id, resource_id: id, details: { choice: "reject" } }]);

  // Used, another's of the same question, altered and unknown: the same answer.
  const altered = `${theirs.approve?.slice(0, -3)}xxx`;
  const refused = [await answer(theirs.reject), await answer(others.approve), await open(altered)];
  refused.push(await answer("none"));
  for (const each of refused) expect(each).toMatchObject(refusal(404, "not_found"));
  expect(new Set(refused.map(({ body }) => body.error.message)).size).toBe(1);
});

const operator = api(server, OPERATOR_TOKEN);
const set =
  (what: (other: World, user_id: string) => string, by: (other: World) => Api) =>
  async (other: World, user_id: string, status: string) =>
    ok(await by(other).patch(what(other, user_id), { status }));
const ofUser = set(
  (_, user_id) => `/users/${user_id}`,
  ({ admin }) => admin,
);
const ofTenant = set(
  ({ tenant_id }) => `/tenants/${tenant_id}`,
  () => operator,
);

test.each([
  ["the person's account", "leaving", ofUser, "disabled"],
  ["the tenant's suspension", "closed", ofTenant, "suspended"],
])("a link ends for good with %s", async (_, slug, setStatus, status) => {
  const other = await makeWorld(server, slug);
  const agent = await newAgent(server, other.admin, ["send"]);
  const email = `leaver@${slug}.example`;
  const invited = ok(await other.admin.post("/users", { email }));
  const { id } = ok(await agent.post("/approvals", { ...QUESTION, assignees: [invited.id] }));
  const { approve } = tokensIn(await mailTo(email));
  ok(await open(approve));
  for (const each of [status, "active"]) {
    await setStatus(other, invited.id, each);
    await refused(answer(approve), "not_found");
  }
  const again = api(server, await signIn(server, other.credentials, other.slug));
  expect(ok(await again.get(`/approvals/${id}`)).status).toBe("open");
});

test("guesses count against the address", async () => {
  await settle(async () => (await open("none")).status === 429);
});
