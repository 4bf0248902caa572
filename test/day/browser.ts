import type { Page } from "playwright-core";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import type { Broken, Day } from "./seed.ts";

/**
 * A morning at the console: finds the agent that is stuck, reads why, fixes its endpoint, replays what died, sees that all
 * arrived, and writes the postmortem as a run.
 *
 * @throws Error where a page does not show what it should
 */
export async function fixInBrowser(page: Page, day: Day, say: (line: string) => void): Promise<void> {
  const { server, billing } = day;
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  await page.goto(`${server.root}/agents`);
  const worst = page.getByRole("region", { name: "Agents" }).locator("tbody tr", { hasText: billing.name });
  await worst.getByText("Unreachable", { exact: true }).waitFor();
  say("the stuck agent is seen in the list");

  await worst.getByRole("link", { name: billing.name }).click();
  await page.getByText("Last error").waitFor();
  await page
    .getByText(/ECONNREFUSED|refused/)
    .first()
    .waitFor();
  say("its page names the cause");

  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByLabel("Endpoint").fill(billing.endpoint.url);
  await button("Save").first().click();
  await page.getByText("Saved.").waitFor();
  await arrived(billing, billing.pending);
  say(`its ${billing.pending} pending deliveries arrive at the new endpoint`);

  await page.goto(`${server.root}/agents/${billing.id}`);
  await button(/^Replay \S+ dead letters?$/).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Replay/ })
    .click();
  await page.getByText(/dead letters? replayed\./).waitFor();
  await arrived(billing, billing.pending + billing.dead);
  await healthy(day, billing);
  say(`so do its ${billing.dead} dead letters, replayed from its page`);

  await page.locator(".page-head").getByText("Active", { exact: true }).waitFor();
  await writePostmortem(page, day);
  say("the postmortem is written as a run");
}

/** Waits until an endpoint got this many deliveries, each as often as it likes. */
export const arrived = ({ endpoint, name }: Broken, count: number) =>
  settle(() => new Set(endpoint.pushed.map(({ headers }) => headers["webhook-id"])).size === count, {
    within: 300_000,
    what: `${count} deliveries at the new endpoint of ${name}`,
  });

/** Waits until nothing of the agent is pending or dead. */
export const healthy = ({ admin }: Day, { id, name }: Broken) =>
  settle(
    async () => {
      const { delivery } = ok(await admin.get(`/agents/${id}?include=delivery`));
      return delivery.pending === 0 && delivery.dead === 0;
    },
    { within: 120_000, every: 200, what: `nothing pending or dead at ${name}` },
  );

async function writePostmortem(page: Page, { server, template, admin }: Day): Promise<void> {
  await page.goto(`${server.root}/templates/${template}`);
  await page.getByRole("button", { name: "Create run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Goal").fill("Outage of billing");
  await dialog.getByRole("button", { name: "Create run" }).click();
  await page.waitForURL("**/runs/*");
  const id = new URL(page.url()).pathname.split("/").at(-1);
  for (const what of ["10:02 the endpoint was gone", "A wrong address", "Alert on unreachable endpoints"]) {
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await dialog.getByLabel("What was done").fill(what);
    await dialog.getByRole("button", { name: "Complete step" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  const run = ok(await admin.get(`/runs/${id}`));
  if (run.status !== "completed") throw new Error(`the postmortem is ${run.status}, not completed`);
}
