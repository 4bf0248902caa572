import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { IconButton } from "./button.tsx";

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Below the content, to the right. */
  footer?: ReactNode;
  wide?: boolean;
  /** A click beside it closes it, too: there is nothing in it that would be lost. */
  light?: boolean;
}

/** What has the focus when a dialog opens: its first field, else the first and most harmless of its buttons. */
const FIRST = ".dialog-body :is(input, select, textarea, button), .dialog-foot button";

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. Shown as long as it is rendered. */
export function Dialog({ title, onClose, children, footer, wide, light }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed while it still stands in the page: only then does the browser give the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // The browser would take the button that closes it.
    dialog?.querySelector<HTMLElement>(FIRST)?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => light && event.target === element.current && onClose()}
    >
      <div className="dialog-box">
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon={X} label="Close" onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {footer && <footer className="dialog-foot">{footer}</footer>}
      </div>
    </dialog>
  );
}
