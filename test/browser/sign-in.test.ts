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
import { codeOf, wrongCode } from "../support/totp.ts";

const provider = await startIdentityProvider();
const site = await openSite(undefined, provider.env);
provider.open(site.server);
const { page, admin } = site;
/** The program that waits for its answer on the person's computer. */
const program = await serving((_, res) => res.end("You can close this page."));
const client = await registered(site.server, { client_name: "Editor" });
const redirect_uri = `${program.url}/callback`;
afterAll(async () => {
  await site.close();
  await provider.close();
  await program.close();
});

const heading = (of: Page, name: string) => of.getByRole("heading", { name, level: 1 });
const title = (of: Page, name: string | RegExp) => of.getByRole("heading", { name });
const providerLink = (of: Page) => of.getByRole("link", { name: "Sign in with Example ID" });

/** A separate browser. */
async function newPage(path: string): Promise<Page> {
  const context = await site.browser.newContext({ reducedMotion: "reduce" });
  const opened = await context.newPage();
  await opened.goto(site.server.root + path);
  return opened;
}

/** Signs in and consents at the pages of the provider. */
async function passProvider(of: Page, login: string): Promise<void> {
  await of.getByPlaceholder("Enter any login").fill(login);
  await of.getByPlaceholder("and password").fill("any");
  await of.getByRole("button", { name: "Sign-in" }).click();
  await of.getByRole("button", { name: "Continue" }).click();
}

/** Sets up the second factor in the console, as the person who is signed in; returns its key. */
async function setUpFactor(of: Page, password: string): Promise<string> {
  await of.getByRole("button", { name: "Set up…" }).click();
  await of.getByRole("dialog").getByLabel("Current password").fill(password);
  await of.getByRole("button", { name: "Continue" }).click();
  await of.getByRole("img", { name: "QR code with the key below" }).waitFor();
  const key = (await of.locator(".secret code").textContent()) as string;
  await of.getByLabel("Code", { exact: true }).fill(codeOf(key));
  return key;
}

test("a person signs in by the provider, lands where they wanted to be, and signs out there too", async () => {
  provider.accounts.set("ada", { email: "ada@example.com", name: "Ada", groups: ["staff"] });
  const own = await newPage("/memories?tab=all");
  await own.getByLabel("E-mail").waitFor();
  await providerLink(own).click();
  await passProvider(own, "ada");
  await heading(own, "Memories").waitFor();
  expect(own.url()).toBe(`${site.server.root}/memories?tab=all`);
  await own.reload();
  await heading(own, "Memories").waitFor();
  await own.goto(`${site.server.root}/settings?tab=account`);
  await own.getByText(provider.issuer).waitFor();
  expect(await own.getByRole("button", { name: "Change password" }).count()).toBe(0);
  expect(await checkPage(own, "account-of-provider")).toEqual([]);
  await own.getByRole("button", { name: "Sign out" }).click();
  await own.waitForURL(`${provider.issuer}/**`);
  await own.getByRole("button", { name: "Yes, sign me out" }).click();
  await providerLink(own).waitFor();
  expect(new URL(own.url()).origin).toBe(site.server.root);
  await own.context().close();
});

test("who is refused reads why, and is let in once the provider gives a role", async () => {
  provider.accounts.set("nobody", { email: "nobody@example.com", groups: [] });
  const own = await newPage("/sign-in/start");
  await passProvider(own, "nobody");
  await own.getByText("Example ID has not given you a role here.").waitFor();
  expect(own.url()).toBe(`${site.server.root}/sign-in/callback`);
  expect(await checkPage(own, "sign-in-refused")).toEqual([]);
  provider.accounts.set("nobody", { email: "nobody@example.com", groups: ["staff"] });
  await own.goto(`${site.server.root}/sign-in/start`);
  await heading(own, "Overview").waitFor();
  for (const to of ["https://elsewhere.example/x", "//elsewhere.example/x"]) {
    await own.goto(`${site.server.root}/sign-in/start?to=${to}`);
    await heading(own, "Overview").waitFor();
    expect(own.url()).toBe(`${site.server.root}/`);
  }
  await own.context().close();
});

test("an answer that no sign-in here asked for is refused, and the password still works", async () => {
  const own = await newPage("/sign-in/callback?error=access_denied");
  await own.getByText(/was not begun in this browser/).waitFor();
  expect(own.url()).not.toContain("access_denied");
  await own.getByLabel("E-mail").fill(site.server.credentials.admin.email);
  await own.getByLabel("Password").fill(site.server.credentials.admin.password);
  await own.getByRole("button", { name: "Sign in" }).click();
  await heading(own, "Overview").waitFor();
  await own.context().close();
});

test("a session that has expired continues after a sign-in in another tab, with what was written", async () => {
  provider.accounts.set("eve", { email: "eve@example.com", groups: ["ops"] });
  const own = await newPage("/agents?create=1");
  await providerLink(own).click();
  await passProvider(own, "eve");
  await own.getByLabel("Name").fill("half written");
  await own.context().clearCookies({ name: "sensorium_session" });
  // Not by the pointer: the page, which follows the server, may have noticed it first, and ask to sign in.
  await own.getByRole("dialog").getByRole("button", { name: "Create agent" }).dispatchEvent("click");
  const [tab] = await Promise.all([own.context().waitForEvent("page"), providerLink(own).click()]);
  await heading(tab, "Overview").waitFor();
  await tab.close();
  await own.bringToFront();
  await own.evaluate("window.dispatchEvent(new Event('focus'))");
  await providerLink(own).waitFor({ state: "detached" });
  expect(await own.getByLabel("Name").inputValue()).toBe("half written");
  await own.context().close();
});

test("the next person in the same window sees nothing of the one before, also before the server answers", async () => {
  ok(await admin.post("/channels", { name: "only for admins' eyes" }));
  const { email, password } = ok(await admin.post("/users", { email: "next@example.com", role: "member" }));
  const own = await newPage("/channels");
  const signIn = async (person: { email: string; password: string }) => {
    await own.getByLabel("E-mail").fill(person.email);
    await own.getByLabel("Password").fill(person.password);
    await own.getByRole("button", { name: "Sign in" }).click();
    await heading(own, "Channels").waitFor();
  };
  await signIn(site.server.credentials.admin);
  const channel = own.getByRole("link", { name: "only for admins' eyes" });
  await channel.waitFor();
  let asked = 0;
  // The server does not answer yet.
  await own.route("**/v1/channels?*", () => void asked++);
  await own.getByRole("link", { name: "Agents" }).click();
  await heading(own, "Agents").waitFor();
  await own.getByRole("link", { name: "Channels" }).click();
  // What the same person saw is there at once.
  await channel.waitFor();
  await own.getByRole("button", { name: "Sign out" }).click();
  await own.getByText("You are signed out.").waitFor();
  const before = asked;
  await signIn({ email, password });
  await own.getByRole("status", { name: "Loading" }).waitFor();
  expect(await channel.count()).toBe(0);
  expect(asked).toBeGreaterThan(before);
  await own.context().close();
});

// The page where a person approves a program, from each way to sign in.

test("a client is approved for an existing agent with fewer scopes after a second factor", async () => {
  const { email, password } = ok(await admin.post("/users", { email: "grace@example.com", role: "admin" }));
  const grace = api(
    site.server,
    ok(await api(site.server).post("/auth/login", { email, password })).access_token,
  );
  const { secret: key } = ok(await grace.post("/auth/totp", { password }));
  ok(await grace.post("/auth/totp/confirm", { code: codeOf(key) }));
  const asked = await attempt(client, {
    ...{ redirect_uri, resource: site.server.root, scope: "memory:read memory:write" },
  });
  const page = await newPage(`/oauth/authorize?${asked.query}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("Code", { exact: true }).fill(codeOf(key, 1));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await title(page, "Editor wants to act as an agent").waitFor();
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
  const me = ok(await api(site.server, tokens.access_token).get("/auth/me"));
  expect(me).toMatchObject({ agent: { id: site.server.credentials.agent.id }, scopes: ["memory:read"] });
  await page.goto(`${site.server.root}/agents/${me.agent.id}?tab=devices`);
  await page.getByText("Approved client").waitFor();
  expect(await checkPage(page, "agent-clients")).toEqual([]);
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("Editor disconnected.").waitFor();
  await page.context().close();
});

test("who signs in by the provider comes back to the request, and denies it", async () => {
  provider.accounts.set("ben", { email: "ben@example.com", name: "Ben", groups: ["staff"] });
  const asked = await attempt(client, { redirect_uri, state: "a b&c" });
  const page = await newPage(`/oauth/authorize?${asked.query}`);
  await providerLink(page).click();
  await passProvider(page, "ben");
  await title(page, "Editor wants to act as an agent").waitFor();
  expect(await page.getByText("New agent").count()).toBe(0);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.waitForURL(`${redirect_uri}?**`);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get("error"), searchParams.get("state")]).toEqual(["access_denied", "a b&c"]);
  await page.context().close();
});

test("a mistake of the client is shown, and is sent to it only by a click", async () => {
  await page.goto(
    `${site.server.root}/oauth/authorize?${(await attempt(client, { redirect_uri, resource: "https://other.example/" })).query}`,
  );
  await title(page, "Editor has made a mistake").waitFor();
  expect(await checkPage(page, "authorize-refused")).toEqual([]);
  expect(await page.getByRole("link", { name: "Go back" }).getAttribute("href")).toContain(
    "error=invalid_target",
  );
});

test("a mistake of an unknown client leads nowhere", async () => {
  const evil = await attempt(client, { redirect_uri: "https://evil.example/callback" });
  await page.goto(`${site.server.root}/oauth/authorize?${evil.query}`);
  await page.getByText(/expected one that the client has registered/).waitFor();
  expect(await page.getByRole("link", { name: /Go back/ }).count()).toBe(0);
  expect(await checkPage(page, "authorize-unknown")).toEqual([]);
  await page.goto(`${site.server.root}/oauth/authorize`);
  await page.getByText("Nothing to approve").waitFor();
});

test("no page of another site can show the approval in a frame", async () => {
  const answer = await fetch(`${site.server.root}/oauth/authorize?x`, { headers: { accept: "text/html" } });
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("a device that shows a code is approved as a new agent", async () => {
  const grant_types = ["urn:ietf:params:oauth:grant-type:device_code"];
  const { as, client: device } = await registered(site.server, { client_name: "Editor", grant_types });
  const answer = await oauth.deviceAuthorizationRequest(as, device, oauth.None(), {}, HTTP);
  const begun = await oauth.processDeviceAuthorizationResponse(as, device, answer);
  await page.goto(begun.verification_uri);
  await page.getByLabel("Code", { exact: true }).fill(begun.user_code.toLowerCase());
  await page.getByRole("button", { name: "Continue" }).click();
  await title(page, "Editor wants to act as an agent").waitFor();
  await page.getByText(begun.user_code, { exact: true }).waitFor();
  await page.getByText("Nobody: any device can use this name").waitFor();
  await page.getByLabel("Name of the new agent").fill("Robot");
  await page.getByRole("button", { name: "Approve" }).click();
  await title(page, "Editor is connected").waitFor();
  expect(await checkPage(page, "authorize-done")).toEqual([]);
  const polled = await oauth.deviceCodeGrantRequest(as, device, oauth.None(), begun.device_code, HTTP);
  expect((await oauth.processDeviceCodeResponse(as, device, polled)).scope).not.toContain("admin");
  const { agents } = ok(await admin.get("/agents?search=Robot"));
  const { sessions } = ok(await admin.get(`/agents/${agents[0].id}/sessions`));
  expect(sessions[0].client_name).toBe("Editor");
});

test("the second factor is set up with an app, asked for at sign-in, and reset by an admin", async () => {
  const { email, password } = ok(await admin.post("/users", { email: "bob@example.com", role: "member" }));
  const own = await newPage("/settings?tab=account");
  await own.getByLabel("E-mail").fill(email);
  await own.getByLabel("Password").fill(password);
  await own.getByRole("button", { name: "Sign in" }).click();
  const key = await setUpFactor(own, password);
  expect(await checkPage(own, "second-factor-set-up")).toEqual([]);
  await own.getByRole("button", { name: "Turn on" }).click();
  const codes = (await own.locator(".recovery-codes").textContent()) as string;
  expect(codes.split("\n")).toHaveLength(10);
  expect(await checkPage(own, "second-factor-recovery-codes")).toEqual([]);
  await own.keyboard.press("Escape");
  await own.getByText("The recovery codes are not shown again.").waitFor();
  await own.getByRole("button", { name: "Cancel" }).click();
  await own.getByRole("button", { name: "I have saved them" }).click();
  await own.getByText("10 recovery codes left.").waitFor();
  expect(await checkPage(own, "account")).toEqual([]);
  await own.getByRole("button", { name: "Sign out" }).click();
  await own.getByText("You are signed out.").waitFor();
  await own.getByLabel("E-mail").fill(email);
  await own.getByLabel("Password").fill(password);
  await own.getByRole("button", { name: "Sign in" }).click();
  const code = own.getByLabel("Code");
  await code.and(own.locator(":focus")).waitFor();
  expect(await checkPage(own, "sign-in-code")).toEqual([]);
  await code.fill(wrongCode(key));
  await own.getByRole("button", { name: "Sign in" }).click();
  await own.getByText(/The code is wrong, has expired or was used before/).waitFor();
  await code.fill(codes.split("\n")[0] as string);
  await own.getByRole("button", { name: "Sign in" }).click();
  await own.getByText("9 recovery codes left.").waitFor();
  await own.context().close();

  await site.go("/settings?tab=people");
  await page.locator("tr", { hasText: email }).getByText("Password, second factor").waitFor();
  expect(await checkPage(page, "people-sign-in")).toEqual([]);
  await site.button("Actions for bob").click();
  await page.getByRole("menuitem", { name: "Remove second factor…" }).click();
  await site.confirm("Remove", "bob has no second factor now.");
  expect((await fetchLogin(email, password)).status).toBe(200);
  expect(site.problems).toEqual([]);
});

function fetchLogin(email: string, password: string): Promise<Response> {
  const body = JSON.stringify({ email, password });
  const headers = { "content-type": "application/json" };
  return fetch(`${site.server.url}/auth/login`, { method: "POST", headers, body });
}
