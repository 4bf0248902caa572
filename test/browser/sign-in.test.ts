/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { checkPage, openSite } from "../support/browser.ts";
import { startIdentityProvider } from "../support/identity-provider.ts";
import { ok } from "../support/tenancy.ts";
import { codeOf, wrongCode } from "../support/totp.ts";

const provider = await startIdentityProvider();
const site = await openSite(undefined, provider.env);
provider.open(site.server);
const { page, admin } = site;
afterAll(async () => {
  await site.close();
  await provider.close();
});

const heading = (of: Page, name: string) => of.getByRole("heading", { name, level: 1 });
const providerLink = (of: Page) => of.getByRole("link", { name: "Sign in with Example ID" });

/** A browser of its own. */
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
  await page.getByText("Password, second factor").waitFor();
  expect(await checkPage(page, "people-sign-in")).toEqual([]);
  await site.button("Actions for bob").click();
  await page.getByRole("menuitem", { name: "Remove second factor…" }).click();
  await site.inDialog("Remove").click();
  await page.getByText("bob has no second factor now.").waitFor();
  expect((await fetchLogin(email, password)).status).toBe(200);
  expect(site.problems).toEqual([]);
});

function fetchLogin(email: string, password: string): Promise<Response> {
  const body = JSON.stringify({ email, password });
  const headers = { "content-type": "application/json" };
  return fetch(`${site.server.url}/auth/login`, { method: "POST", headers, body });
}
