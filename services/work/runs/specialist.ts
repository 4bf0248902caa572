import { Errors } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import type { StepDef } from "./runs.model.ts";

interface LoadError {
  code: string;
  message: string;
}

/**
 * Loads a step's specialist for an attempt; null if it has none. Reports one that cannot be loaded, without stopping
 * the attempt (spec: Step attempt).
 */
export async function loadSpecialist(ctx: Call, { specialist_name: name }: StepDef): Promise<object | null> {
  if (name === null) return null;
  try {
    const loaded = await ctx.call<{ error?: { code: string } }, object>("specialists.load", { name });
    return loaded.error ? explained(loaded.error.code, name) : loaded;
  } catch (err) {
    if (!(err instanceof Errors.MoleculerError)) throw err;
    return explained("unavailable", name);
  }
}

function explained(code: string, name: string): LoadError {
  const message =
    code === "not_found"
      ? `There is no specialist "${name}".`
      : `The specialist "${name}" cannot be loaded right now.`;
  return { code, message };
}
