/**
 * `npm run screenshots` writes `docs/img/console-light.png` and `console-dark.png`: the page of an event in the console
 * of a real server, after `npm run console:build`. It needs Debian's chromium.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Person, signIn, startBrowser } from "../support/chromium.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { DRAWN } from "../support/keyboard.ts";
import { startServer } from "../support/server.ts";

const IMAGES = join(import.meta.dirname, "../../docs/img");
/** 1440 × 900 pixels, with room for the whole event. */
const VIEW = { viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 0.9 };
const MAX_BYTES = 200_000;
const OPERATOR_TOKEN = "the-operator-token-of-the-screenshots";

const ORDER = {
  ...{ specversion: "1.0", id: "order-1842-placed", source: "https://shop.example.com" },
  ...{ type: "com.example.order.placed", subject: "order-1842" },
  data: { total: 249.9, currency: "EUR", items: [{ sku: "lamp-12", quantity: 2 }] },
};

await using opened = new AsyncDisposableStack();
const server = await startServer({ env: { OPERATOR_TOKEN } });
opened.defer(() => server.stop());
const { person, event_id } = await seed();
const browser = await startBrowser();
opened.defer(() => browser.close());
const context = await browser.newContext({ ...VIEW, timezoneId: "UTC" });
const page = await context.newPage();
await signIn(page, server.root, person);
await page.goto(`${server.root}/events/${event_id}`);
await page.getByText("Acknowledged", { exact: true }).nth(1).waitFor();
for (const colorScheme of ["light", "dark"] as const) await picture(page, colorScheme);

/** Creates an organisation in which an order was billed at once, and packed at the second attempt. */
async function seed(): Promise<{ person: Person; event_id: string }> {
  const slug = "northwind";
  const { admin: founder } = await done(
    api(server, OPERATOR_TOKEN).post("/tenants", {
      ...{ slug, name: "Northwind", admin_email: "admin@northwind.example" },
    }),
  );
  const login = await done(api(server).post("/auth/login", { ...founder, tenant_slug: slug }));
  const admin = api(server, login.access_token);
  const email = "ada@northwind.example";
  const ada = await done(admin.post("/users", { email, display_name: "Ada Moreno", role: "admin" }));
  const shop = await agent(admin, "web-shop");
  const billing = await agent(admin, "billing", {
    event_type: "com.example.order.*",
    filter_expression: "data.total > 100",
  });
  const warehouse = await agent(admin, "warehouse", { event_type: ORDER.type });
  const { event_id } = await done(shop.post("/events", ORDER));
  await acknowledge(billing);
  const delivery_ids = await receive(warehouse);
  const reason = "the stock service did not respond";
  await done(warehouse.post("/delivery/nack", { delivery_ids, reason, delay_seconds: 2 }));
  await acknowledge(warehouse);
  return { person: { email, password: ada.password }, event_id };
}

/** Creates an agent, with an interest if it receives events. */
async function agent(admin: Api, name: string, interest?: object): Promise<Api> {
  const { id } = await done(admin.post("/agents", { name, delivery_mode: "poll" }));
  if (interest) await done(admin.post(`/agents/${id}/interests`, interest));
  const { key } = await done(admin.post(`/agents/${id}/keys`, { scopes: ["send", "receive"] }));
  return api(server, await agentToken(server, key));
}

async function receive(receiver: Api): Promise<string[]> {
  const { deliveries } = await done(receiver.get("/delivery/poll?wait=10&limit=1"));
  return deliveries.map(({ id }: { id: string }) => id);
}

async function acknowledge(receiver: Api): Promise<void> {
  await done(receiver.post("/delivery/ack", { delivery_ids: await receive(receiver) }));
}

/** Returns the body of an answer. @throws Error if the request failed */
async function done(answer: ReturnType<Api["get"]>): Promise<Awaited<ReturnType<Api["get"]>>["body"]> {
  const { status, body } = await answer;
  if (status >= 400) throw new Error(`the server responded with ${status}: ${JSON.stringify(body)}`);
  return body;
}

async function picture(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  const path = join(IMAGES, `console-${colorScheme}.png`);
  await page.emulateMedia({ colorScheme });
  await page.evaluate(DRAWN);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; the limit is ${MAX_BYTES}`);
  process.stdout.write(`${path}: ${size} bytes\n`);
}
