/** @needs chromium */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { signIn } from "../support/chromium.ts";
import { makeDeadLetters } from "../support/dead-letters.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

// It ends the server.
const site = await openSite(undefined, {});
const { page, admin } = site;

const rows = page.locator("tbody tr");

/** An agent with an interest, whose deliveries die at the first nack. */
async function mortal(name: string, event_type: string): Promise<Api> {
  const { id } = ok(await admin.post("/agents", { name, delivery_mode: "poll", retry_budget: 1 }));
  ok(await admin.post(`/agents/${id}/interests`, { event_type }));
  const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send", "receive"] }));
  return api(site.server, await agentToken(site.server, key));
}

const publish = async (id: string, type = "com.example.seen") =>
  ok(await admin.post("/events", { specversion: "1.0", source: "urn:t", type, id, data: {} }));

const remember = async (title: string) =>
  ok(await admin.post("/memories", { title, content: title, type: "semantic", scope: "institutional" }));

test("a new server's overview creates a demonstration, signs in to it, and that removes itself", async () => {
  await site.button("Create a demonstration").click();
  await page.getByRole("dialog").getByText("a dead letter, to look into and replay").waitFor();
  expect(await checkPage(page, "demonstration")).toEqual([]);
  await site.inDialog("Not now").click();
  expect(ok(await site.agent.get("/demo")).tenant).not.toBeNull();
  await site.button("Open").click();
  await site.inDialog("Sign in to it").click();
  await page.getByRole("heading", { name: "This organisation is a demonstration" }).waitFor();
  await page.getByText("1 agent needs attention").waitFor();
  await site.go("/memories", "within 60 days");
  await page.getByLabel("As of").fill(new Date(Date.now() - 200 * 86_400_000).toISOString().slice(0, 10));
  await page.getByLabel("As of").blur();
  await page.getByText("within 14 days").waitFor();
  await site.go("/");
  await site.button("Remove").click();
  await site.confirm("Remove", page.getByLabel("Password"));
  await signIn(page, site.server.root, site.server.credentials.admin);
  expect(ok(await site.agent.get("/demo")).tenant).toBeNull();
});

describe("the service's own events", () => {
  test("are hidden until asked for, and then name what they are about", async () => {
    await mortal("listener", "service.memory.*");
    await publish("visible");
    const { id } = await remember("Terms of payment");
    await site.go("/events", page.getByRole("link", { name: "com.example.seen" }));
    expect(await page.getByRole("link", { name: "service.memory.created" }).count()).toBe(0);
    await page.getByLabel("Service events").check();
    await page.getByRole("link", { name: "service.memory.created" }).first().waitFor();
    await page.waitForURL(/service=1/);
    await page.getByRole("link", { name: "Terms of payment" }).click();
    await page.waitForURL(`**/memories/${id}`);

    await site.go("/", page.getByRole("link", { name: /com\.example\.seen/ }));
    expect(await page.getByRole("link", { name: /service\.memory/ }).count()).toBe(0);
    await page.getByLabel("Service events").click();
    await page.getByRole("link", { name: /service\.memory\.created.*Terms of payment/ }).waitFor();
  });

  test("stay out of the dry run of an interest", async () => {
    await site.go("/agents");
    await page.getByRole("link", { name: "listener" }).click();
    await page.getByRole("tab", { name: "Interests" }).click();
    await site
      .button(/^Add interest/)
      .first()
      .click();
    await page.getByLabel("Event type").fill("com.example.*");
    await site.button("Test on recent events").click();
    const tested = page.getByRole("region", { name: "Tested events" });
    await tested.getByText("com.example.seen").waitFor();
    expect(await tested.getByText("service.memory.created").count()).toBe(0);
    await page.getByRole("dialog").getByLabel("Service events").check();
    await site.button("Test on recent events").click();
    await tested.getByText("service.memory.created").first().waitFor();
    await page.keyboard.press("Escape");
  });
});

describe("dead letters", () => {
  let billing: Api;
  const bar = page.locator(".select-bar");
  const left = async () => ok(await admin.get("/delivery/dlq/groups")).total as number;

  beforeAll(async () => {
    billing = await mortal("billing", "com.shop.*");
    const of = (reason: string, count: number) => new Array<string>(count).fill(reason);
    await makeDeadLetters(billing, "com.shop.placed", [...of("the shop is shut", 70), ...of("timeout", 6)]);
    await makeDeadLetters(billing, "com.shop.cancelled", of("timeout", 4));
  });

  test("show subject and error, and are filtered by agent, type and text", async () => {
    await site.go("/dead-letters", site.button(/^70 ?the shop is shut/));
    const first = rows.first();
    await first.getByText("com.shop.cancelled").waitFor();
    await first.getByText("order-3").waitFor();
    await first.getByText("timeout", { exact: true }).waitFor();
    await page.getByLabel("Text").fill("SHUT");
    await site.button("Search").click();
    await site.button(/^10 ?timeout/).waitFor({ state: "detached" });
    await rows.getByText("the shop is shut").first().waitFor();
    await site.fill({ Text: "", Type: "*.cancelled" });
    await site.press("Search", site.button(/^4 ?timeout/));
    await settle(async () => (await rows.count()) === 4);
    await page.getByRole("combobox", { name: "Agent" }).fill("listener");
    await page.getByRole("option", { name: "listener" }).click();
    await page.getByText("No matching dead letters").waitFor();
    await site.press("Clear filters", site.button(/^70 ?the shop/));
  });

  test("are selected as a range with Shift, and discarded", async () => {
    await site.go("/dead-letters");
    const box = (at: number) => rows.nth(at).getByRole("checkbox");
    await box(1).check();
    await box(4).click({ modifiers: ["Shift"] });
    await page.getByText("4 selected").waitFor();
    await bar.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog").getByText("4 dead letters").waitFor();
    await site.confirm("Discard", "4 dead letters discarded.");
    expect(await left()).toBe(76);
    await page.getByText("selected").waitFor({ state: "detached" });
  });

  test("a group is replayed with one click and a look at what it does", async () => {
    await site.go("/dead-letters");
    await site.press(/^Replay all: .*timeout/, page.getByRole("dialog").getByText("6 dead letters"));
    await site.confirm("Replay", "6 dead letters replayed.");
    // The group goes by itself, when the last of it is replayed.
    await site.button(/^Replay all: .*timeout/).waitFor({ state: "detached" });
    const { deliveries } = ok(await billing.get("/delivery/poll?wait=30"));
    expect(deliveries).toHaveLength(6);
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
    ok(await billing.post("/delivery/nack", { delivery_ids, reason: "timeout" }));
    await site.button(/^6 ?timeout/).waitFor();
  });

  test("all that match are selected, shown or not", async () => {
    await site.go("/dead-letters");
    await site.button(/^70 ?the shop/).click();
    await page.waitForURL(/cause=/);
    await settle(async () => (await rows.count()) === 50);
    await page.getByLabel("Select all").check();
    await page.getByText("50 selected").waitFor();
    await site.press("Select all 70 that match", "70 selected");
    await bar.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog").getByText("70 dead letters").waitFor();
    await site.confirm("Discard", "70 dead letters discarded.");
    expect(await left()).toBe(6);
  });

  test("one is replayed from the page of its event", async () => {
    const [{ event_id }] = ok(await admin.get("/delivery/dlq?limit=1")).items;
    await site.go(`/events/${event_id}`);
    await site.press("Replay", page.getByRole("dialog").getByText("Receivers: billing."));
    await site.confirm("Replay", "1 dead letter replayed.");
    // It was replayed before, with its group.
    await page.getByText("Replayed", { exact: true }).nth(1).waitFor();
    expect(await left()).toBe(5);
  });
});

describe("live", () => {
  test("new rows are counted and inserted on demand, and shown ones change in place", async () => {
    await mortal("reader", "com.example.live");
    await publish("live-0");
    await site.go("/events", page.getByRole("link", { name: "com.example.seen" }).first());
    const top = await rows.first().boundingBox();
    for (const n of [1, 2, 3]) await publish(`live-${n}`, "com.example.live");
    await site.button("3 new").waitFor();
    expect(await page.getByRole("link", { name: "com.example.live" }).count()).toBe(0);
    expect(await rows.first().boundingBox()).toEqual(top);
    await site.button("3 new").click();
    await settle(async () => (await page.getByRole("link", { name: "com.example.live" }).count()) === 3);
    expect(await site.button(/new$/).count()).toBe(0);
  });

  test.each([
    ["/memories", "1 new", () => remember("A second one")],
    ["/channels", "1 new", () => admin.post("/channels", { name: "zebra" })],
    ["/agents", "1 new", () => admin.post("/agents", { name: "zebra", delivery_mode: "poll" })],
    ["/runs", "1 new", () => begin("Second")],
  ])("%s follows the server", async (path, label, make) => {
    if (path === "/channels") ok(await admin.post("/channels", { name: "first" }));
    if (path === "/runs") await begin("First");
    await site.go(path);
    await rows.first().waitFor();
    const before = await rows.count();
    await make();
    await site.button(label).click();
    await settle(async () => (await rows.count()) === before + 1);
  });

  const scope = "institutional";
  const attested = [{ step_key: "a", title: "Do it", completion_mode: "attestation" }];
  const template = (name: string) =>
    admin.post("/process-templates", { name, slug: "followed", steps: attested });
  const write = (description: string) =>
    admin.put("/specialists/followed", { system_prompt: "You are.", description });

  /** A page by its path, and a change that another makes, whose name is then shown. */
  const SINGLE: [what: string, make: () => Promise<{ path: string; rename(): ReturnType<Api["post"]> }>][] = [
    ["an agent", async () => renamed("/agents", { name: "old", delivery_mode: "poll" }, "name")],
    ["a channel", async () => renamed("/channels", { name: "old" }, "name")],
    [
      "a memory",
      async () => renamed("/memories", { title: "old", content: "c", type: "semantic", scope }, "title"),
    ],
    [
      "an output",
      async () => {
        const { id } = ok(await admin.post("/outputs", { title: "old", body: "# old", scope }));
        const rename = () => admin.post("/outputs", { output_id: id, title: "renamed", body: "# new" });
        return { path: `/outputs/${id}`, rename };
      },
    ],
    [
      "a template",
      async () => {
        ok(await template("old"));
        return { path: "/templates/followed", rename: () => template("renamed") };
      },
    ],
    [
      "a specialist",
      async () => {
        ok(await write("old"));
        return { path: "/specialists/followed", rename: () => write("renamed") };
      },
    ],
    [
      "an exemplar",
      async () =>
        renamed("/exemplars", { display_name: "old", filename: "e.md", content: "# e" }, "display_name"),
    ],
  ];

  async function renamed(list: string, fields: object, name: string) {
    const path = `${list}/${ok(await admin.post(list, fields)).id}`;
    return { path, rename: () => admin.patch(path, { [name]: "renamed" }) };
  }

  test.each(SINGLE)("the page of %s follows the server", async (_, make) => {
    const { path, rename } = await make();
    await site.go(path);
    const head = page.locator(".page-head");
    await head
      .getByText(/^old$|^followed$/)
      .first()
      .waitFor();
    ok(await rename());
    await head.getByText("renamed", { exact: true }).waitFor();
  });

  test("the figures of an agent follow its deliveries, and a hidden page catches up", async () => {
    const reader = await mortal("follower", "com.follow");
    const { id } = ok(await reader.get("/auth/me")).agent;
    await site.go(`/agents/${id}`);
    const pending = page.getByRole("region", { name: "Pending" });
    await pending.getByText("0", { exact: true }).waitFor();
    await publish("follow-1", "com.follow");
    await pending.getByText("1", { exact: true }).waitFor();
    await hide(true);
    await publish("follow-2", "com.follow");
    await settle(async () => ok(await admin.get(`/agents/${id}?include=delivery`)).delivery.pending === 2);
    await hide(false);
    await pending.getByText("2", { exact: true }).waitFor();
  });

  /** Hides the page as another tab would, or shows it again. */
  const hide = (hidden: boolean) =>
    page.evaluate(`{
      Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }`);

  const begin = async (goal: string) =>
    ok(await admin.post("/runs", { goal, steps: [{ step_key: "a", completion_mode: "attestation" }] }));

  test("pages opened during an outage recover by themselves, as do those that were open", async () => {
    await site.go("/events");
    await rows.first().waitFor();
    const other = await page.context().newPage();
    await other.goto(`${site.server.root}/agents`);
    await other.locator("tbody tr").first().waitFor();
    await site.server.end();
    // Its script may be loaded or not.
    await page.getByRole("link", { name: "Channels" }).click();
    await page
      .getByText(/not responding/)
      .first()
      .waitFor();
    await site.server.restart();
    await page.getByRole("link", { name: "zebra" }).waitFor();
    const token = ok(await api(site.server).post("/auth/login", site.server.credentials.admin)).access_token;
    const again = api(site.server, token);
    ok(await again.post("/agents", { name: "after", delivery_mode: "poll" }));
    await other.getByRole("button", { name: "1 new" }).waitFor();
    await other.close();
  });

  test("the console itself, opened without an answer, continues when there is one", async () => {
    const other = await page.context().newPage();
    await other.route("**/v1/auth/session", (route) => route.abort());
    await other.goto(`${site.server.root}/agents`);
    await other.getByText(/not responding/).waitFor();
    await other.unroute("**/v1/auth/session");
    await other.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await other.close();
  });
});
