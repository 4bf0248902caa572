import { beforeAll, describe, expect, test } from "@jest/globals";
import { newAgent, receive } from "../../../../test/support/agents.ts";
import { type Pushed, startEndpoint } from "../../../../test/support/endpoint.ts";
import { type Api, api } from "../../../../test/support/http.ts";
import { slackHeaders } from "../../../../test/support/senders.ts";
import { startServer } from "../../../../test/support/server.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../../../../test/support/tenancy.ts";
import { use, useServer } from "../../../../test/support/use.ts";

// Slack is a stand-in on loopback: its incoming webhook is at /hook, its response URLs are at /response.

const SECRET = "8f742231b10e8888abcd99baac7780a5";
const OTHER_SECRET = "another-app-of-another-tenant";
const USER = "U024BE7LH";
const QUESTION = { title: "Ship <it>?", question: "All checks are *green* & <!channel>." };
const ENV = {
  ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", PUBLIC_FAILURES_PER_MINUTE: "0", EMBEDDER: "none" },
  PUSH_ALLOW_PRIVATE: "true",
};

const slack = use(await startEndpoint());
slack.answer(200);
const server = await useServer({ env: ENV });
const world = await makeWorld(server, "slack");
const other = await makeWorld(server, "neighbours");
const asker = await newAgent(server, world.admin, ["send", "receive"]);
const webhook_url = slack.url;
ok(await world.admin.put("/approval-channels/slack", { webhook_url, signing_secret: SECRET }));
ok(await other.admin.put("/approval-channels/slack", { webhook_url, signing_secret: OTHER_SECRET }));

const ask = async (more: object = {}, by: Api = asker) =>
  ok(await by.post("/approvals", { ...QUESTION, ...more }));

type Button = { text: { text: string }; value?: string; url?: string };
type Block = { type: string; text?: { type: string; text: string; verbatim?: boolean }; elements?: Button[] };
type Message = { text: string; replace_original?: boolean; blocks: Block[] };

const read = ({ body }: Pushed) => JSON.parse(body) as Message;
const buttonsOf = ({ blocks }: Message) => blocks.find(({ type }) => type === "actions")?.elements ?? [];
const isAbout = (id: string) => (message: Message) =>
  buttonsOf(message).some(({ value }) => value?.startsWith(id));
/** The messages in the channel that ask a question. */
const asked = () => slack.pushed.filter(({ path }) => path === "/hook").map(read);
const messagesOf = (id: string) => asked().filter(isAbout(id));
const posted = (id: string) => settle(() => messagesOf(id)[0], { what: "a message in Slack" });
const buttonFor = (message: Message, choice: string) =>
  buttonsOf(message).find(({ text }) => text.text === choice)?.value as string;

interface Clicked {
  secret?: string;
  at?: number;
  slug?: string;
  user?: string;
  response_url?: string;
  payload?: string;
}

/** A click on a button, as Slack reports it. */
async function click(
  value: string | undefined,
  { secret = SECRET, at, slug = world.slug, ...more }: Clicked = {},
) {
  const { user = USER, response_url = new URL("/response", slack.url).href } = more;
  const actions = [{ type: "button", action_id: "choice_0", value }];
  const payload =
    more.payload ??
    JSON.stringify({ type: "block_actions", user: { id: user, username: "kim" }, response_url, actions });
  const body = new URLSearchParams({ payload }).toString();
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const headers = { ...form, ...slackHeaders(secret, body, at) };
  const answer = await fetch(`${server.root}/slack/${slug}`, { method: "POST", body, headers });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

const statusOf = async (id: string, by: Api = world.admin) => ok(await by.get(`/approvals/${id}`)).status;

describe("a question", () => {
  test("is posted with its evidence and a button for each choice, and answered by one", async () => {
    const evidence = [{ kind: "link", id: "https://shop.example/orders/1042" }];
    const { id } = await ask({ evidence, choices: ["ship & tell", "wait"] });
    const message = await posted(id);
    expect(message.text).toBe("Ship &lt;it&gt;?");
    const shown = message.blocks.map(({ text }) => text?.text);
    const question = "All checks are _green_ &amp; &lt;!channel&gt;.";
    const parts = [QUESTION.title, question, "Evidence:\nlink https://shop.example/orders/1042"];
    expect(shown).toEqual(expect.arrayContaining(parts));
    // Nothing of it becomes a mention or a link.
    const marked = message.blocks.filter(({ text }) => text?.type === "mrkdwn");
    expect(marked).toMatchObject([{ text: { verbatim: true } }]);
    expect(buttonsOf(message).map(({ text, url }) => [text.text, url])).toEqual([
      ["ship & tell", undefined],
      ["wait", undefined],
      ["Answer with a text", `${server.root}/approvals/${id}`],
    ]);

    const answered = await click(buttonFor(message, "ship & tell"));
    const text = `Answered with *ship &amp; tell* by <@${USER}>.`;
    expect(answered).toMatchObject({ status: 200, body: { replace_original: true } });
    // A choice such as "@here" mentions nobody.
    expect(answered.body.blocks[1].text).toEqual({ type: "mrkdwn", text, verbatim: true });
    expect(slack.pushed.filter(({ path }) => path === "/response").map(read)).toEqual([answered.body]);

    expect(ok(await world.admin.get(`/approvals/${id}`))).toMatchObject({
      ...{ status: "answered", choice: "ship & tell", text: null, answered_by: "slack" },
      ...{ answered_by_slack_user: USER, answered_by_user_id: null },
    });
    const [{ payload }] = await receive(asker, 1);
    expect(payload).toMatchObject({ type: "service.approval.answered", data: { choice: "ship & tell" } });
    const { entries } = ok(await world.admin.get("/audit?action=approvals.answer_slack"));
    const details = { choice: "ship & tell", slack_user: USER };
    expect(entries).toMatchObject([{ actor_kind: "service", resource_id: id, details }]);
    const { receipt } = ok(await world.admin.get(`/approvals/${id}/receipt`));
    const [, claims] = receipt.split(".");
    const expected = { answered_by_slack_user: USER };
    expect(JSON.parse(Buffer.from(claims, "base64url").toString()).approval).toMatchObject(expected);

    // The first answer counts.
    const again = await click(buttonFor(message, "wait"), { user: "U0LATER" });
    expect(again).toMatchObject({ status: 200, body: { replace_original: true } });
    expect(again.body.text).toContain(`already answered with ship &amp; tell by the Slack user ${USER}`);
    expect(ok(await world.admin.get(`/approvals/${id}`))).toMatchObject({ choice: "ship & tell" });
  });

  test("that is long is posted whole, in several blocks before the buttons", async () => {
    const question = `${"Release **one** more batch.\n".repeat(200)}But not the last.`;
    const ids = Array.from({ length: 3 }, (_, n) => `https://shop.example/${n}/${"p".repeat(1500)}`);
    const { id } = await ask({ question, evidence: ids.map((each) => ({ kind: "link", id: each })) });
    const message = await posted(id);
    const shown = JSON.stringify(message.blocks);
    for (const each of ["But not the last.", ...ids]) expect(shown).toContain(each);
    for (const { text } of message.blocks) expect(text?.text.length ?? 0).toBeLessThanOrEqual(3000);
    expect(message.blocks.at(-1)?.type).toBe("actions");
    expect(buttonsOf(message)).toHaveLength(3);
  });

  test("that is too long for a message has a link in place of its buttons, and says so", async () => {
    const { id } = await ask({ question: `${"Move a row.\n".repeat(1300)}LAST` });
    const message = await settle(() =>
      asked().find((each) => buttonsOf(each).some(({ url }) => url?.endsWith(id))),
    );
    expect(JSON.stringify(message.blocks)).not.toContain("LAST");
    expect(JSON.stringify(message.blocks)).toContain(
      "only the beginning: the question and its evidence have 15,604 characters",
    );
    const url = `${server.root}/approvals/${id}`;
    expect(buttonsOf(message)).toEqual([expect.objectContaining({ url })]);
  });

  test("that was answered in the console says so to who clicks later", async () => {
    const { id } = await ask();
    const message = await posted(id);
    ok(await world.admin.post(`/approvals/${id}/answer`, { choice: "reject" }));
    const { status, body } = await click(buttonFor(message, "approve"));
    expect([status, body.replace_original]).toEqual([200, true]);
    expect(body.text).toContain("already answered with reject by usr_");
    expect(buttonsOf(body)).toEqual([]);
  });

  test("is not answered after its deadline", async () => {
    const { id } = await ask({ deadline_seconds: 1 });
    await settle(async () => (await statusOf(id)) === "expired");
    const { status, body } = await click(`${id}.0`);
    expect([status, body.text]).toEqual([200, expect.stringContaining("The approval is expired.")]);
    expect(await statusOf(id)).toBe("expired");
  });

  test("to people for whom the channel does not stand reaches it when it escalates to others", async () => {
    const { users } = ok(await world.admin.get("/users"));
    const member = users.find(({ role }: { role: string }) => role === "member");
    const theirs = await ask({ assignees: [member.id] });
    expect((await click(`${theirs.id}.0`)).body).toMatchObject({ response_type: "ephemeral" });
    expect(await statusOf(theirs.id)).toBe("open");
    const { id } = await ask({ assignees: [member.id], escalate_to: ["admins"], escalate_after_seconds: 1 });
    const message = await posted(id);
    expect(JSON.stringify(message.blocks)).toContain("Escalated: nobody has answered yet.");
    expect(messagesOf(theirs.id)).toEqual([]);
    expect((await click(buttonFor(message, "reject"))).body.text).toContain("Answered with *reject*");
  });
});

describe("a request is refused, and answers nothing,", () => {
  let id: string;
  beforeAll(async () => {
    id = (await ask()).id;
  });

  test.each<[why: string, reason: string, how: () => Clicked]>([
    ["with the secret of another app", "signature does not match", () => ({ secret: OTHER_SECRET })],
    ["with an old timestamp", "timestamp too old", () => ({ at: Date.now() - 301_000 })],
    ["with a timestamp ahead", "in the future", () => ({ at: Date.now() + 302_000 })],
    ["at a tenant that does not exist", "signature does not match", () => ({ slug: "nobody" })],
    ["at another tenant's address", "signature does not match", () => ({ slug: other.slug })],
  ])("%s", async (_, reason, how) => {
    const refused = await click(`${id}.0`, how());
    expect(refused).toMatchObject(refusal(401, "authentication_failed"));
    expect(refused.body.error.message).toContain(reason);
    expect(await statusOf(id)).toBe("open");
  });

  test("without a signature, alike for a tenant that exists and one that does not", async () => {
    const post = async (slug: string) => {
      const answer = await fetch(`${server.root}/slack/${slug}`, { method: "POST", body: "payload=%7B%7D" });
      return (await answer.json()) as { error: { code: string; message: string } };
    };
    const [known, unknown] = [await post(world.slug), await post("nobody")];
    expect(known.error).toMatchObject({ code: "authentication_failed", message: unknown.error.message });
  });

  test.each([
    ["no JSON", "{"],
    ["another event", JSON.stringify({ type: "view_submission", user: { id: USER }, actions: [{}] })],
    ["no user", JSON.stringify({ type: "block_actions", actions: [{ value: "x.0" }] })],
  ])("with a payload that is %s", async (_, payload) =>
    expect(await click("", { payload })).toMatchObject(
      refusal(400, "validation_error", { field: "payload" }),
    ),
  );

  test("for another tenant's question, an unknown one and an unknown choice, without a difference", async () => {
    const before = slack.pushed.length;
    const signed = { secret: OTHER_SECRET, slug: other.slug };
    const unknown = "0199c0de-7a11-7c3e-9f00-000000000000";
    const foreign = [await click(`${id}.0`, signed), await click(`${unknown}.0`, signed)];
    foreign.push(await click(`${id}.7`), await click(`${id}.x`), await click(id));
    const text = "This question cannot be answered here: it was deleted, or is asked of others.";
    const body = { response_type: "ephemeral", replace_original: false, text };
    for (const each of foreign) expect(each).toEqual({ status: 200, body });
    expect(slack.pushed.slice(before).map(({ path }) => path)).toEqual(foreign.map(() => "/response"));
    expect(await statusOf(id)).toBe("open");
  });

  test("but a click on a link needs none", async () => {
    expect(await click(undefined)).toEqual({ status: 200, body: {} });
    expect(await statusOf(id)).toBe("open");
  });
});

test("the response goes to the host of the webhook alone", async () => {
  await using elsewhere = await startEndpoint();
  const { id } = await ask();
  expect((await click(`${id}.0`, { response_url: elsewhere.url })).body.text).toContain("*approve*");
  expect(await statusOf(id)).toBe("answered");
  expect(elsewhere.pushed).toEqual([]);
});

describe("the channel", () => {
  test("is set, read and deleted by admins; its secrets are not shown", async () => {
    const third = await makeWorld(server, "third");
    const path = "/approval-channels/slack";
    expect(await third.admin.get(path)).toMatchObject(refusal(404, "not_found"));
    const channel = { webhook_url: slack.url, signing_secret: SECRET, assignees: ["admins"] };
    const missing = refusal(400, "validation_error", { field: "signing_secret" });
    expect(await third.admin.put(path, { webhook_url: slack.url })).toMatchObject(missing);
    const set = ok(await third.admin.put(path, channel));
    expect(set).toEqual({
      ...{ host: "127.0.0.1", request_url: `${server.root}/slack/${third.slug}`, assignees: ["admins"] },
      ...{ last_error: null, updated_at: expect.any(String) },
    });
    expect(ok(await third.admin.get(path))).toEqual(set);
    // An agent cannot give itself the means to answer.
    for (const caller of [third.agent, third.member])
      expect(await caller.put(path, channel)).toMatchObject(refusal(403, "forbidden"));
    // What is left out stays.
    expect(ok(await third.admin.put(path, {}))).toMatchObject({ host: "127.0.0.1", assignees: ["admins"] });
    const foreign = { ...channel, assignees: [await world.idOf("usr")] };
    expect(await third.admin.put(path, foreign)).toMatchObject({ status: 400 });
    const found = await third.admin.put(path, { ...channel, webhook_url: "ftp://slack.example/x" });
    expect(found).toMatchObject(refusal(400, "validation_error", { field: "webhook_url" }));
    expect((await third.admin.del(path)).status).toBe(204);
    const { id } = await ask({}, third.agent);
    expect(await click(`${id}.0`, { slug: third.slug })).toMatchObject(refusal(401, "authentication_failed"));
    expect(await statusOf(id, third.admin)).toBe("open");
    const { entries } = ok(await third.admin.get("/audit?action=approvals.set_slack"));
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });

  test("that is down blocks nobody, says why, and gets the question after all", async () => {
    slack.answer((_, res) => res.writeHead(503, { "Retry-After": "1" }).end());
    const { id } = await ask();
    const error = async () => ok(await world.admin.get("/approval-channels/slack")).last_error;
    await settle(async () => /responded with 503/.test((await error()) ?? ""));
    // Asked, answered and delivered meanwhile.
    const answeredNow = await ask();
    ok(await world.admin.post(`/approvals/${answeredNow.id}/answer`, { choice: "approve" }));
    slack.answer(200);
    const before = messagesOf(id).length;
    await settle(() => messagesOf(id).length > before);
    await settle(async () => (await error()) === null);
  });

  // At last: the server does not come back.
  test("is at no private address unless the operator allows it, even if it was stored when that was allowed", async () => {
    const before = slack.pushed.length;
    await server.end();
    const { dataDir } = server;
    await using strict = await startServer({ env: { ...ENV, PUSH_ALLOW_PRIVATE: "false" }, dataDir });
    const admin = api(strict, world.adminToken);
    const channel = { webhook_url: slack.url, signing_secret: SECRET };
    const refused = await admin.put("/approval-channels/slack", channel);
    expect(refused).toMatchObject(refusal(400, "validation_error", { field: "webhook_url" }));
    ok(await api(strict, world.agentToken).post("/approvals", QUESTION));
    const error = async () => ok(await admin.get("/approval-channels/slack")).last_error;
    await settle(async () => /is not a public address/.test(await error()));
    expect(slack.pushed.length).toBe(before);
  });
});
