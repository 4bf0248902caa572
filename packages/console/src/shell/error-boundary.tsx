import { Component, type ComponentType, lazy, type ReactNode, useEffect } from "react";
import { RETRY_MS } from "../data/live.ts";
import { Button } from "../ui/button.tsx";
import { Bug, Unplug } from "../ui/icons.tsx";
import { Empty } from "../ui/page.tsx";

/** The script of a page or component could not be loaded. */
class NotLoaded extends Error {}

interface Props {
  /** The content, as the start of a sentence. */
  what: string;
  /** It is a whole page: if its script is missing, the console is reloaded when the server is back. */
  reloads?: boolean;
  children: ReactNode;
}

/** Contains rendering errors, so that the rest of the console keeps working. */
export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error("nothing was thrown") };
  }

  override render() {
    const { error } = this.state;
    const { what, reloads, children } = this.props;
    if (error === undefined) return children;
    const reload = <Button label="Reload" onClick={() => location.reload()} />;
    if ((error as unknown) instanceof NotLoaded) {
      return (
        <Empty icon={Unplug} title={`${what} could not be loaded`} action={reload}>
          The server is not responding. Check your connection, then reload.
          {reloads && <ReloadWhenBack />}
        </Empty>
      );
    }
    return (
      <Empty icon={Bug} title={`${what} could not be shown`} action={reload}>
        <p>This is an error in the console. Your data is unchanged.</p>
        <code>{String(error)}</code>
      </Empty>
    );
  }
}

/** Reloads once the server answers: browsers remember that a script could not be loaded. */
function ReloadWhenBack() {
  useEffect(() => {
    const timer = setInterval(async () => {
      const isBack = await fetch("/healthz", { cache: "no-store" }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isBack && mayReload()) location.reload();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return null;
}

const RELOADED = "reloaded-at";
/** The shortest time between two reloads: a script that stays missing would cause one after another. */
const RELOAD_MS = 60_000;

function mayReload(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) < RELOAD_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  return true;
}

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
