import { Bug, Unplug } from "lucide-react";
import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/page.tsx";

/** The script of a page or component could not be loaded. */
export class NotLoaded extends Error {}

interface Props {
  /** The content, as the start of a sentence. */
  what: string;
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
    const { what, children } = this.props;
    if (error === undefined) return children;
    const reload = <Button onClick={() => location.reload()}>Reload</Button>;
    if ((error as unknown) instanceof NotLoaded) {
      return (
        <Empty icon={Unplug} title={`${what} could not be loaded`} action={reload}>
          The server is not responding. Check your connection, then reload.
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
