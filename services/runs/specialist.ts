import { Errors } from "moleculer";
import type { Call } from "../../lib/caller.ts";

interface LoadError {
  code: string;
  message: string;
}

/** A step's specialist as it is loaded for an attempt. What cannot be loaded is said so, and stops nobody. */
export async function loadSpecialist(ctx: Call, name: string): Promise<object> {
  try {
    const loaded = await ctx.call<{ error?: { code: string } }, object>("specialists.load", { name });
    return loaded.error ? { error: explained(loaded.error.code, name) } : loaded;
  } catch (err) {
    if (!(err instanceof Errors.MoleculerError)) throw err;
    return { error: explained("unavailable", name) };
  }
}

function explained(code: string, name: string): LoadError {
  const message =
    code === "not_found"
      ? `There is no specialist "${name}".`
      : `The specialist "${name}" cannot be loaded now.`;
  return { code, message };
}
