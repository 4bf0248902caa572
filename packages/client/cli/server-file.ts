import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { parseOrigin } from "../access.ts";

/** A server's file for its owner, `DATA_DIR/credentials.json`. */
export interface ServerFile {
  base_url: string;
  tenant_slug?: string;
  admin?: { email: string; password: string };
  agent: { api_key: string };
}

type Read = { server: ServerFile; why?: never } | { server?: never; why: string };

/**
 * Reads a server's file, which decides where prompts and data are sent, if nobody else can have written it: only its
 * owner has access to it, as the server makes it and no clone of a repository can.
 *
 * @param shown its name as a person knows it
 * @returns why it is not used, otherwise
 */
export async function readServerFile(path: string, shown = path): Promise<Read> {
  try {
    const file = await open(path, "r");
    try {
      const { mode, uid } = await file.stat();
      const me = process.getuid?.();
      if (me !== undefined && uid !== me)
        return { why: "not used, as it belongs to another user: run this as that user" };
      // Windows has no such modes.
      if (me !== undefined && (mode & 0o077) !== 0)
        return { why: `not used, as others have access to it: run chmod 600 ${shown}` };
      const server = JSON.parse(await file.readFile("utf8")) as ServerFile | null;
      if (!server?.base_url || !server.agent?.api_key) return { why: "not used, as no server wrote it" };
      return { server };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return { why: `not there, as ${dirname(shown)} is a file, not a folder` };
    return { why: code === "ENOENT" ? "not there" : `cannot be read: ${message}` };
  }
}

/** Whether an address is on this machine. */
export function isLoopback(url: string): boolean {
  try {
    return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(parseOrigin(url)).hostname);
  } catch {
    return false;
  }
}
