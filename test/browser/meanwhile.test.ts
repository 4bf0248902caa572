/** @needs chromium */
import { expect, test } from "@jest/globals";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;

/** Something that two change at the same time: one in the console, the other over HTTP. */
interface Shared {
  path: string;
  /** Opens the form. */
  open(): Promise<void>;
  /** Changes one field of it. */
  write(text: string): Promise<void>;
  save: string;
  /** The other user's action while the form is open. */
  meanwhile(): Promise<unknown>;
  /** Reads the field from the server. */
  read(): Promise<string>;
}

const TARGET = "2030-05-17T10:00:00Z";
const mapping = { entity: "order", action: "/action" };

/** Of a list of the API the only one. */
const onlyOf = async (path: string) => ok(await admin.get(path))[path.slice(path.lastIndexOf("/") + 1)][0];

const steps = [{ step_key: "a", title: "Do it", completion_mode: "attestation" }];

const SHARED: [what: string, make: () => Promise<Shared>][] = [
  [
    "a memory",
    async () => {
      const memory = { title: "Terms", content: "30 days", type: "semantic", scope: "institutional" };
      const path = `/memories/${ok(await admin.post("/memories", memory)).id}`;
      return {
        ...{ path, open: () => site.button("Edit").click() },
        ...{ write: (text) => page.getByRole("textbox", { name: "Content" }).fill(text), save: "Save" },
        meanwhile: () => admin.patch(path, { content: "theirs" }),
        read: async () => ok(await admin.get(path)).content,
      };
    },
  ],
  [
    "an interest",
    async () => {
      const of = `/agents/${site.server.credentials.agent.id}`;
      const interest = { event_type: "com.example.*" };
      const path = `${of}/interests/${ok(await admin.post(`${of}/interests`, interest)).id}`;
      return {
        ...{ path: `${of}?tab=interests`, open: () => site.button(/^com/).click() },
        ...{ write: (text) => page.getByLabel("Filter (CEL)").fill(`data.who == "${text}"`), save: "Save" },
        meanwhile: () => admin.patch(path, { filter_expression: 'data.who == "theirs"' }),
        read: async () => ok(await admin.get(path)).filter_expression.split('"')[1],
      };
    },
  ],
  [
    "an agent",
    async () => {
      const path = `/agents/${ok(await admin.post("/agents", { name: "bot", delivery_mode: "poll" })).id}`;
      return {
        ...{ path: `${path}?tab=settings`, open: () => page.getByLabel("Description").waitFor() },
        ...{ write: (text) => page.getByLabel("Description").fill(text), save: "Save" },
        meanwhile: () => admin.patch(path, { description: "theirs" }),
        read: async () => ok(await admin.get(path)).description,
      };
    },
  ],
  [
    "a channel",
    async () => {
      const path = `/channels/${ok(await admin.post("/channels", { name: "deployments" })).id}`;
      return {
        ...{ path, open: () => site.button("Edit").click() },
        ...{ write: (text) => page.getByLabel("Description").fill(text), save: "Save" },
        meanwhile: () => admin.patch(path, { description: "theirs" }),
        read: async () => ok(await admin.get(path)).description,
      };
    },
  ],
  [
    "a project",
    async () => {
      ok(await admin.post("/projects", { key: "apollo", target_date: TARGET }));
      return {
        ...{ path: "/settings?tab=projects", open: () => site.button("Edit apollo").click() },
        ...{ write: (text) => page.getByLabel("Name").fill(text), save: "Save" },
        meanwhile: () => admin.patch("/projects/apollo", { name: "theirs" }),
        read: async () => (await onlyOf("/projects")).name,
      };
    },
  ],
  [
    "a webhook",
    async () => {
      const webhook = { name: "shop", source: "shop", mapping };
      const path = `/ingest/webhooks/${ok(await admin.post("/ingest/webhooks", webhook)).id}`;
      return {
        ...{ path, open: () => page.getByLabel("Name").waitFor() },
        ...{ write: (text) => page.getByLabel("Name").fill(text), save: "Save" },
        meanwhile: () => admin.patch(path, { name: "theirs" }),
        read: async () => (await onlyOf("/ingest/webhooks")).name,
      };
    },
  ],
  [
    "a connector",
    async () => {
      const from = { kind: "amqp091", url: "amqps://8.8.8.8/", queue: "orders", paused: true };
      const connector = { name: "orders", source: "shop", mapping, ...from };
      const { id } = ok(await admin.post("/ingest/connectors", connector));
      return {
        ...{ path: "/ingest?tab=connectors", open: () => site.button("orders").first().click() },
        ...{ write: (text) => page.getByLabel("Name").fill(text), save: "Save" },
        meanwhile: () => admin.patch(`/ingest/connectors/${id}`, { name: "theirs" }),
        read: async () => (await onlyOf("/ingest/connectors")).name,
      };
    },
  ],
  [
    "an output",
    async () => {
      const { id: output_id } = ok(await admin.post("/outputs", { body: "# Plan", scope: "institutional" }));
      const path = `/outputs/${output_id}`;
      return {
        ...{ path, open: () => site.button("Create version").click() },
        ...{ write: (text) => page.getByRole("textbox", { name: "Text" }).fill(text), save: "Save version" },
        meanwhile: () => admin.post("/outputs", { output_id, body: "theirs" }),
        read: async () => ok(await admin.get(path)).body,
      };
    },
  ],
  [
    "a template",
    async () => {
      const template = { name: "Notes", slug: "notes", steps };
      ok(await admin.post("/process-templates", template));
      return {
        ...{ path: "/templates/notes/edit", open: () => page.getByLabel("Description").waitFor() },
        ...{ write: (text) => page.getByLabel("Description").fill(text), save: "Save version" },
        meanwhile: () => admin.post("/process-templates", { ...template, description: "theirs" }),
        read: async () => ok(await admin.get("/process-templates/notes")).description,
      };
    },
  ],
];

test.each(SHARED)("overwrites another user's change of %s only on confirmation", async (_, make) => {
  const { path, open, write, save, meanwhile, read } = await make();
  await site.go(path);
  await open();
  await write("mine");
  ok((await meanwhile()) as never);
  const button = page.getByRole("button", { name: save, exact: true }).first();
  await button.click();
  const asked = page.getByRole("dialog", { name: "Changed by someone else" });
  await asked.getByRole("link", { name: "View the current version" }).waitFor();
  await asked.getByRole("button", { name: "Cancel" }).click();
  await asked.waitFor({ state: "detached" });
  // The typed text is kept.
  await button.and(page.locator(":focus")).waitFor();
  expect(await read()).toBe("theirs");
  await button.click();
  await asked.getByRole("button", { name: "Overwrite" }).click();
  await page
    .getByRole("status")
    .getByText(/saved|changed|version/i)
    .first()
    .waitFor();
  expect(await read()).toBe("mine");
});

test("keeps other users' changes of untouched fields without asking", async () => {
  const [webhook, connector] = [await onlyOf("/ingest/webhooks"), await onlyOf("/ingest/connectors")];
  const theirs = { ...mapping, subject: "/customer" };
  const forms = [
    {
      ...{ at: "/settings?tab=projects", open: "Edit apollo", path: "/projects", of: "apollo" },
      theirs: { status: "completed" },
    },
    {
      ...{ at: `/ingest/webhooks/${webhook.id}`, open: "", path: "/ingest/webhooks", of: webhook.id },
      theirs: { mapping: theirs },
    },
    {
      ...{ at: "/ingest?tab=connectors", open: connector.name, path: "/ingest/connectors", of: connector.id },
      theirs: { mapping: theirs, prefetch: 7 },
    },
  ];
  for (const { at, open, path, of, theirs } of forms) {
    await site.go(at);
    if (open) await site.button(open).first().click();
    await page.getByLabel("Name").fill("Renamed");
    ok(await admin.patch(`${path}/${of}`, theirs));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await settle(async () => (await onlyOf(path)).name === "Renamed");
    expect(await onlyOf(path)).toMatchObject(theirs);
  }
  // The form has days only.
  expect((await onlyOf("/projects")).target_date).toBe(TARGET);
});

test("asks before a new template becomes a version of another", async () => {
  await site.go("/templates/new");
  await site.fill({ Name: "Notes", Title: "Do it" });
  await site.button("Create template").click();
  await page.getByRole("dialog").getByText("A template with this slug exists: Notes.").waitFor();
  await site.inDialog("Cancel").click();
  expect(ok(await admin.get("/process-templates/notes")).version_num).toBe(3);
});

test("shows a change that was reported while the page was first being read", async () => {
  const memory = { title: "before", content: "30 days", type: "semantic", scope: "institutional" };
  const path = `/memories/${ok(await admin.post("/memories", memory)).id}`;
  await site.go("/memories");
  await page.route(
    `**/v1${path}*`,
    async (route) => {
      const response = await route.fetch();
      const source = await page.evaluateHandle(listen);
      ok(await admin.patch(path, { title: "after" }));
      await page.evaluate(({ reported }) => reported, source);
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await page.getByRole("link", { name: "before" }).click();
  await site.heading("after").waitFor();
});

/** In the page: listens, and resolves `reported` once the server has reported a change, and statistics after it. */
async function listen() {
  const source = new EventSource("/v1/live");
  const next = (what: string) =>
    new Promise<void>((resolve) => source.addEventListener(what, () => resolve(), { once: true }));
  await next("stats");
  const reported = next("changed")
    .then(() => next("stats"))
    .then(() => source.close());
  return { reported };
}
