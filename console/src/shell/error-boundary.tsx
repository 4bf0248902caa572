import { Bug, Unplug } from "lucide-react";
import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/page.tsx";

/** The script of a page did not come: nobody answers, or not with that. */
export class PageNotLoaded extends Error {}

/** What cannot be drawn does not take the rest of the console with it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error("nothing was thrown") };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const reload = <Button onClick={() => location.reload()}>Reload</Button>;
    if ((error as unknown) instanceof PageNotLoaded) {
      return (
        <Empty icon={Unplug} title="This page could not be loaded" action={reload}>
          The server does not answer. Reload when it does.
        </Empty>
      );
    }
    return (
      <Empty icon={Bug} title="This page could not be shown" action={reload}>
        <p>It is an error of the console; nothing of yours was changed by it.</p>
        <code>{String(error)}</code>
      </Empty>
    );
  }
}
