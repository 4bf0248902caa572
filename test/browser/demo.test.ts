/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite(undefined, {});
const { page, agent, problems } = site;
afterAll(() => site.close());

test("a new server's overview creates a demonstration, signs in to it, and that removes itself", async () => {
  await site.button("Create a demonstration").click();
  await page.getByRole("dialog").getByText("a dead letter, to look into and replay").waitFor();
  expect(await checkPage(page, "demonstration")).toEqual([]);
  await site.inDialog("Not now").click();
  expect(ok(await agent.get("/demo")).tenant).not.toBeNull();
  await site.button("Open").click();
  await site.inDialog("Sign in to it").click();
  await page.getByRole("heading", { name: "This organisation is a demonstration" }).waitFor();
  await page.getByText("1 agent needs attention").waitFor();
  await site.go("/memories", "within 60 days");
  await page.getByLabel("As of").fill(new Date(Date.now() - 200 * 86_400_000).toISOString().slice(0, 10));
  await page.getByLabel("As of").blur();
  await page.getByText("within 14 days").waitFor();
  await site.go("/");
  expect(problems).toEqual([]);
  await site.button("Remove").click();
  await site.confirm("Remove", page.getByLabel("Password"));
  expect(ok(await agent.get("/demo")).tenant).toBeNull();
});
