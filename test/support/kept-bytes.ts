import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** One word of lower-case letters, which the bundled embedder and the tokeniser do not split. */
export const marker = () => `zq${randomBytes(6).toString("hex").replaceAll(/[0-9]/g, "x")}zq`;

/** Which of the texts some file of a folder holds, whatever part of the file that is. */
export async function heldIn(folder: string, texts: Record<string, string>): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of files.filter((each) => each.isFile())) {
    const path = join(file.parentPath, file.name);
    // A file may go while the folder is read.
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    for (const [what, text] of Object.entries(texts)) {
      const written = [text, Buffer.from(text).toString("base64").slice(2, -4)];
      if (written.some((each) => bytes.includes(each))) found.push(`${what} in ${file.name}`);
    }
  }
  return found;
}
