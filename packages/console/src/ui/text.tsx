import { type MouseEvent, useEffect, useState } from "react";
import { fullTime, relative } from "../data/format.ts";
import { IconButton } from "./button.tsx";
import { Check, CircleAlert, Copy as CopyIcon } from "./icons.tsx";

/** A relative time with the full time on hover. It updates itself. */
export function Time({ at }: { at: string }) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={fullTime(at)} className="num nowrap-text">
      {relative(at)}
    </time>
  );
}

const SHOWN_MS = 1500;

interface CopyProps {
  text: string;
  label?: string;
  onCopied?: ((text: string) => void) | undefined;
}

export function Copy({ text, label = "Copy", onCopied }: CopyProps) {
  const [shown, setShown] = useState<keyof typeof OUTCOMES>();
  const copy = async ({ currentTarget: button }: MouseEvent<HTMLElement>) => {
    const copied = await copyText(text, button);
    if (copied) onCopied?.(text);
    setShown(copied ? "copied" : "failed");
    setTimeout(() => setShown(undefined), SHOWN_MS);
  };
  const outcome = shown && OUTCOMES[shown];
  return <IconButton icon={outcome?.icon ?? CopyIcon} label={outcome?.label ?? label} onClick={copy} />;
}

const OUTCOMES = {
  copied: { icon: Check, label: "Copied" },
  failed: { icon: CircleAlert, label: "Copying failed: select the text and copy it manually" },
};

/** Returns whether the text is now on the clipboard. */
async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  // The only way for pages over plain HTTP. Outside an open dialog nothing can be selected.
  const area = (button.closest("dialog") ?? document.body).appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  button.focus();
  return copied;
}

/** An identifier: one line, with a button that copies it. */
export function Id({ children }: { children: string }) {
  return (
    <span className="id">
      <code className="truncate">{children}</code>
      <Copy text={children} label="Copy ID" />
    </span>
  );
}

interface SecretProps extends Pick<CopyProps, "onCopied"> {
  label: string;
  value: string;
  note: string;
}

/** A secret that is shown once, with a notice and a copy button. */
export function Secret({ label, value, note, onCopied }: SecretProps) {
  return (
    <div className="secret">
      <p className="secret-label">{label}</p>
      <div className="row nowrap">
        <code className="grow">{value}</code>
        <Copy text={value} label={`Copy ${label}`} onCopied={onCopied} />
      </div>
      <p className="field-hint">{note}</p>
    </div>
  );
}

/** A value as JSON, to read and copy. */
export function Json({ value, label = "JSON" }: { value: unknown; label?: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="code-block">
      <Copy text={text} label={`Copy ${label}`} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
      <section className="code-scroll" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}

/** A filter in CEL, in a table. */
export function FilterText({ filter }: { filter: string | null }) {
  return filter ? <code className="break">{filter}</code> : <span className="faint">All events</span>;
}
