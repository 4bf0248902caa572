import {
  type ButtonHTMLAttributes,
  type ComponentProps,
  type MouseEvent,
  type ReactNode,
  useState,
} from "react";
import { Link } from "react-router";
import type { LucideIcon } from "./icons.tsx";

export interface Look {
  /** `remove` opens a confirmation; `danger` acts. */
  kind?: "primary" | "plain" | "quiet" | "remove" | "danger" | undefined;
  small?: boolean | undefined;
  icon?: LucideIcon | undefined;
  label?: ReactNode;
}

type ButtonProps = Look & Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> & { busy?: boolean };

/** While busy it keeps its width and the focus, and ignores clicks. */
export function Button(props: ButtonProps) {
  const { kind = "plain", small, icon, busy, label, className = "", onClick, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      className={`${classOf(kind, small)} ${className}`}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? ignore : onClick}
    >
      <Inside icon={icon} small={small} label={label} />
      {busy && <span className="spinner" aria-hidden />}
    </button>
  );
}

/** Also prevents submitting a form twice. */
const ignore = (event: MouseEvent) => event.preventDefault();

export function DialogButton({ dialog, ...look }: Look & { dialog(onClose: () => void): ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)} />
      {open && dialog(() => setOpen(false))}
    </>
  );
}

export function ButtonLink({ to, kind = "plain", small, ...inside }: Look & { to: string }) {
  return (
    <Link to={to} className={classOf(kind, small)}>
      <Inside small={small} {...inside} />
    </Link>
  );
}

export type IconLook = { icon: LucideIcon; label: string };

/** A button with only an icon: the label is for screen readers and the tooltip. */
export function IconButton({ icon: Icon, label, ...rest }: IconLook & ComponentProps<"button">) {
  return (
    <button type="button" title={label} {...rest} className="icon-button" aria-label={label}>
      <Icon aria-hidden size={16} />
    </button>
  );
}

function Inside({ icon: Icon, small, label }: Omit<Look, "kind">) {
  return (
    <span className="button-inside">
      {Icon && <Icon aria-hidden size={small ? 14 : 16} />}
      {label}
    </span>
  );
}

function classOf(kind: string, small: boolean | undefined): string {
  return `button ${kind}${small ? " small" : ""}`;
}
