import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { once } from "./once.ts";

const { chromium } = once("playwright-core") as typeof import("playwright-core");

export type Person = { email: string; password: string };

/** Chromium without a window takes a third less processor time as the program made for it. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Starts Debian's Chromium, without the sandbox that a container's root cannot have. */
export function startBrowser(): Promise<Browser> {
  const executablePath = PROGRAMS.find((program) => existsSync(program));
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** Signs in to the console of the server at `root`; ends on the overview. */
export async function signIn(page: Page, root: string, { email, password }: Person): Promise<void> {
  await page.goto(`${root}/`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
}
