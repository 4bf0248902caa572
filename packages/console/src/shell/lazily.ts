import { type ComponentType, lazy } from "react";
import { NotLoaded } from "./error-boundary.tsx";

/** A component whose script is loaded when first shown. */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw didNotCome(cause) ? new NotLoaded("a script", { cause }) : cause;
    }
  });
}

/**
 * Browsers report a missing script as a TypeError, and Vite missing styles by a message; any other error was thrown by
 * loaded code.
 */
function didNotCome(cause: unknown): boolean {
  return cause instanceof TypeError || String(cause).startsWith("Error: Unable to preload");
}
