import { afterAll, expect } from "@jest/globals";
import { openSite as open } from "./browser.ts";

/** Opens a window for the tests of a file, after which no page may have had problems or requested another host. */
export async function openSite(...given: Parameters<typeof open>): ReturnType<typeof open> {
  const site = await open(...given);
  afterAll(async () => {
    await site.close();
    expect(site.problems).toEqual([]);
  });
  return site;
}
