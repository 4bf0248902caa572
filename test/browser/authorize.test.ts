/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import * as oauth from "oauth4webapi";
import type { Page } from "playwright-core";
import { checkPage, openSite } from "../support/browser.ts";
import { api } from "../support/http.ts";
import { startIdentityProvider } from "../support/identity-provider.ts";
import { attempt, exchange, HTTP, registered } from "../support/oauth.ts";
import { serving } from "../support/serving.ts";
import { ok } from "../support/tenancy.ts";
import { codeOf } from "../support/totp.ts";

// The page where a person approves a program, from each way to sign in.

const provider = await startIdentityProvider();
const site = await openSite(undefined, provider.env);
provider.open(site.server);
/** The program that waits for its answer on the person's computer. */
const program = await serving((_, res) => res.end("You can close this page."));
const client = await registered(site.server, { client_name: "Editor" });
const { server, admin } = site;
const redirect_uri = `${program.url}/callback`;
afterAll(async () => {
  await site.close();
  await provider.close();
  await program.close();
});

const heading = (of: Page, name: string | RegExp) => of.getByRole("heading", { name });

/** A browser of its own, at the page that the program opens. */
async function opened(query: string): Promise<Page> {
  const context = await site.browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(`${server.root}/oauth/authorize?${query}`);
  return page;
}

async function signIn(page: Page, { email, password }: { email: string; password: string }, code?: string) {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  if (code === undefined) return;
  await page.getByLabel("Code", { exact: true }).fill(code);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("a client is approved for an existing agent with fewer scopes after a second factor", async () => {
  const { email, password } = ok(await admin.post("/users", { email: "ada@example.com", role: "admin" }));
  const ada = api(server, ok(await api(server).post("/auth/login", { email, password })).access_token);
  const { secret: key } = ok(await ada.post("/auth/totp", { password }));
  ok(await ada.post("/auth/totp/confirm", { code: codeOf(key) }));
  const asked = await attempt(client, {
    redirect_uri,
    resource: server.root,
    scope: "memory:read memory:write",
  });
  const page = await opened(asked.query);
  await signIn(page, { email, password }, codeOf(key, 1));
  await heading(page, "Editor wants to act as an agent").waitFor();
  expect(await page.getByText(new URL(program.url).host).count()).toBe(1);
  expect(await checkPage(page, "authorize")).toEqual([]);
  await page.getByText("Existing agent").click();
  expect(await page.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "Agent to act as" }).fill("def");
  await page.getByRole("option", { name: /default/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel("memory:write").uncheck();
  expect(await checkPage(page, "authorize-existing")).toEqual([]);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(`${redirect_uri}?**`);
  const tokens = await exchange(client, new URL(page.url()), asked);
  expect(tokens.scope).toBe("memory:read");
  const me = ok(await api(server, tokens.access_token).get("/auth/me"));
  expect(me).toMatchObject({ agent: { id: server.credentials.agent.id }, scopes: ["memory:read"] });
  await page.goto(`${server.root}/agents/${me.agent.id}?tab=devices`);
  await page.getByText("Approved client").waitFor();
  expect(await checkPage(page, "agent-clients")).toEqual([]);
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("Editor disconnected.").waitFor();
  await page.context().close();
});

test("who signs in by the provider comes back to the request, and denies it", async () => {
  provider.accounts.set("bob", { email: "bob@example.com", name: "Bob", groups: ["staff"] });
  const asked = await attempt(client, { redirect_uri, state: "a b&c" });
  const page = await opened(asked.query);
  await page.getByRole("link", { name: "Sign in with Example ID" }).click();
  await page.getByPlaceholder("Enter any login").fill("bob");
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Editor wants to act as an agent").waitFor();
  expect(await page.getByText("New agent").count()).toBe(0);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.waitForURL(`${redirect_uri}?**`);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get("error"), searchParams.get("state")]).toEqual(["access_denied", "a b&c"]);
  await page.context().close();
});

test("a mistake of the client is shown, and is sent to it only by a click", async () => {
  const { page } = site;
  await page.goto(
    `${server.root}/oauth/authorize?${(await attempt(client, { redirect_uri, resource: "https://other.example/" })).query}`,
  );
  await heading(page, "Editor has made a mistake").waitFor();
  expect(await checkPage(page, "authorize-refused")).toEqual([]);
  expect(await page.getByRole("link", { name: "Go back" }).getAttribute("href")).toContain(
    "error=invalid_target",
  );
});

test("a mistake of an unknown client leads nowhere", async () => {
  const { page } = site;
  const evil = await attempt(client, { redirect_uri: "https://evil.example/callback" });
  await page.goto(`${server.root}/oauth/authorize?${evil.query}`);
  await page.getByText(/expected one that the client has registered/).waitFor();
  expect(await page.getByRole("link", { name: /Go back/ }).count()).toBe(0);
  expect(await checkPage(page, "authorize-unknown")).toEqual([]);
  await page.goto(`${server.root}/oauth/authorize`);
  await page.getByText("Nothing to approve").waitFor();
});

test("no page of another site can show it in a frame", async () => {
  const answer = await fetch(`${server.root}/oauth/authorize?x`, { headers: { accept: "text/html" } });
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("a device that shows a code is approved as a new agent", async () => {
  const { page } = site;
  const grant_types = ["urn:ietf:params:oauth:grant-type:device_code"];
  const { as, client: device } = await registered(site.server, { client_name: "Editor", grant_types });
  const answer = await oauth.deviceAuthorizationRequest(as, device, oauth.None(), {}, HTTP);
  const begun = await oauth.processDeviceAuthorizationResponse(as, device, answer);
  await page.goto(begun.verification_uri);
  await page.getByLabel("Code", { exact: true }).fill(begun.user_code.toLowerCase());
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Editor wants to act as an agent").waitFor();
  await page.getByText(begun.user_code, { exact: true }).waitFor();
  await page.getByText("Nobody: any device can use this name").waitFor();
  await page.getByLabel("Name of the new agent").fill("Robot");
  await page.getByRole("button", { name: "Approve" }).click();
  await heading(page, "Editor is connected").waitFor();
  expect(await checkPage(page, "authorize-done")).toEqual([]);
  const polled = await oauth.deviceCodeGrantRequest(as, device, oauth.None(), begun.device_code, HTTP);
  expect((await oauth.processDeviceCodeResponse(as, device, polled)).scope).not.toContain("admin");
  const { agents } = ok(await admin.get("/agents?search=Robot"));
  const { sessions } = ok(await admin.get(`/agents/${agents[0].id}/sessions`));
  expect(sessions[0].client_name).toBe("Editor");
  expect(site.problems).toEqual([]);
});
