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

/**
 * Opens the dialog that it returns the ref of, as long as that is rendered. The browser keeps the focus in it.
 *
 * @param first selector of the initial focus; by default what the browser chooses
 */
export function useModal(first?: string) {
  const element = useRef<HTMLDialogElement>(null);
  // Close it while it is still in the page: only then does the browser return the focus.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    if (first) dialog?.querySelector<HTMLElement>(first)?.focus();
    return () => dialog?.close();
  }, [first]);
  return element;
}

/** The browser's modal dialog: it keeps the focus, and Escape closes it. Shown as long as it is rendered. */
export function Dialog({ title, onClose, children, footer, done, wide, light }: DialogProps) {
  // The browser would focus the close button.
  const element = useModal(FIRST_FOCUSABLE);
  const heading = useId();
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
