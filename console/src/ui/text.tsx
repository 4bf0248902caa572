import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { fullTime, relative } from "../data/format.ts";
import { IconButton } from "./button.tsx";

/** A time as one speaks of it; the whole of it on hover. It keeps itself up to date. */
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

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return <IconButton icon={copied ? Check : CopyIcon} label={copied ? "Copied" : label} onClick={copy} />;
}

async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Pages over plain HTTP have no clipboard but this.
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** An identifier: one line, with a button that copies it. */
export function Id({ children }: { children: string }) {
  return (
    <span className="id">
      <code className="truncate">{children}</code>
      <Copy text={children} label="Copy id" />
    </span>
  );
}

/** A secret that is shown once: the person is told so, and copies it. */
export function Secret({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <div className="secret">
      <p className="secret-label">{label}</p>
      <div className="row nowrap">
        <code className="grow">{value}</code>
        <Copy text={value} label={`Copy ${label}`} />
      </div>
      <p className="field-hint">{note}</p>
    </div>
  );
}

/** Something as JSON, to be read and copied. */
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
