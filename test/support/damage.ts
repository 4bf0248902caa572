import { open } from "node:fs/promises";

/** As SQLite's default. */
const PAGE = 4096;

/** Overwrites the chosen pages of a database file, counted from 1, with bytes that are no page. */
export async function damage(file: string, isChosen: (page: number) => boolean): Promise<void> {
  const handle = await open(file, "r+");
  try {
    const pages = (await handle.stat()).size / PAGE;
    for (let page = 1; page <= pages; page++)
      if (isChosen(page)) await handle.write(Buffer.alloc(PAGE, 0xa5), 0, PAGE, (page - 1) * PAGE);
  } finally {
    await handle.close();
  }
}
