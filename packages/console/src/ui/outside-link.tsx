import type { ReactNode } from "react";
import { isWebLink } from "../data/links.ts";

/** A link to an untrusted address: anything but a web address stays text. */
export function OutsideLink({ to, children = to }: { to: string; children?: ReactNode }) {
  if (!isWebLink(to)) return <span>{children}</span>;
  return (
    <a href={to} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  );
}
