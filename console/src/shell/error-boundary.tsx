import { Bug } from "lucide-react";
import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/page.tsx";

/** What cannot be drawn does not take the rest of the console with it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error("nothing was thrown") };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Empty
        icon={Bug}
        title="This page could not be shown"
        action={<Button onClick={() => location.reload()}>Reload</Button>}
      >
        <p>It is an error of the console; nothing of yours was changed by it.</p>
        <code>{String(error)}</code>
      </Empty>
    );
  }
}
