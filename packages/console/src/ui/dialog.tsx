import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button, IconButton } from "./button.tsx";
import { X } from "./icons.tsx";

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Below the content, to the right. */
  footer?: ReactNode;
  /** The label of a button that closes it, at the end of the footer. */
  done?: string;
  wide?: boolean;
  /** A click outside closes it too: it contains nothing that could be lost. */
  light?: boolean;
}

/** The initial focus: the first field, else the first and least harmful button. */
const FIRST_FOCUSABLE = ".dialog-body :is(input, select, textarea, button), .dialog-foot button";

/** The browser's modal dialog: it keeps the focus, and Escape closes it. Shown as long as it is rendered. */
export function Dialog({ title, onClose, children, footer, done, wide, light }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Close it while it is still in the page: only then does the browser return the focus.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // The browser would focus the close button.
    dialog?.querySelector<HTMLElement>(FIRST_FOCUSABLE)?.focus();
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
        {(footer || done) && (
          <footer className="dialog-foot">
            {footer}
            {done && <Button label={done} kind="primary" onClick={onClose} />}
          </footer>
        )}
      </div>
    </dialog>
  );
}
