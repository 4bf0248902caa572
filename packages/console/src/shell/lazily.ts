import { type ComponentType, lazy } from "react";
import { NotLoaded } from "./error-boundary.tsx";

/** A component whose script is loaded when it is first shown. */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw didNotCome(cause) ? new NotLoaded("a script", { cause }) : cause;
    }
  });
}

/** Browsers say so of a script by a TypeError, Vite of its styles in words; anything else was thrown by what came. */
function didNotCome(cause: unknown): boolean {
  return cause instanceof TypeError || String(cause).startsWith("Error: Unable to preload");
}
