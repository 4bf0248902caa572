import { type MouseEvent, type ReactNode, useEffect, useState } from "react";
import { Link } from "react-router";
import { fullTime, relative } from "../data/format.ts";
import { titledId, useName } from "../data/names.ts";
import { useSession } from "../data/session.ts";
import { IconButton } from "./button.tsx";
import { Check, CircleAlert, Copy as CopyIcon } from "./icons.tsx";
import { Card } from "./page.tsx";
import "./tile.css";

/** The time, in milliseconds, again and again. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

interface TimeProps {
  at: string | null | undefined;
  shown?: (at: string) => string;
  none?: string;
}

/** A relative time, or as `shown`, with the full time on hover, or `none`. It updates itself. */
export function Time({ at, shown = relative, none = "–" }: TimeProps) {
  useNow();
  if (!at) return <span className="faint">{none}</span>;
  return (
    <time dateTime={at} title={fullTime(at)} className="num nowrap-text">
      {shown(at)}
    </time>
  );
}

const SHOWN_MS = 1500;

interface CopyProps {
  text: string;
  label: string;
  onCopied?: ((text: string) => void) | undefined;
}

export function Copy({ text, label, onCopied }: CopyProps) {
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

/** A text for machines, of which one line is seen, with a button that copies all of it. */
export function Copied({ text, label, className = "" }: CopyProps & { className?: string }) {
  return (
    <span className="row nowrap">
      <code className={`truncate ${className}`}>{text}</code>
      <Copy text={text} label={label} />
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

export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2)} label={label} />;
}

/** A text for machines, to read and copy. */
export function Code({ text, label, onCopied }: CopyProps) {
  return (
    <div className="code-block">
      <Copy text={text} label={`Copy ${label}`} onCopied={onCopied} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
      <section className="code-scroll" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}

/** A longer text takes a browser seconds to render. */
const MAX_SHOWN = 1_000_000;

interface TextCardProps {
  title: string;
  text: string;
  /** For screen readers. Default: the title. */
  label?: string;
  copy?: string;
}

/** A long text as it is written, to read and copy. */
export function TextCard({ title, text, label = title, copy = "Copy text" }: TextCardProps) {
  return (
    <Card title={title} actions={<Copy text={text} label={copy} />} flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
      <section className="text-source" tabIndex={0} aria-label={label}>
        <pre>{text.slice(0, MAX_SHOWN)}</pre>
      </section>
    </Card>
  );
}

export function FilterText({ filter }: { filter: string | null }) {
  return filter ? <code className="break">{filter}</code> : <span className="faint">All events</span>;
}

export type Tone = "neutral" | "good" | "warn" | "bad" | "info" | "accent";

export function Badge({ label, tone = "neutral", dot }: { label: ReactNode; tone?: Tone; dot?: boolean }) {
  return (
    <span className={`badge ${tone}`}>
      {dot && <span className="dot" aria-hidden />}
      {label}
    </span>
  );
}

/**
 * An agent, a person or a team, by name. Without permission, shows a short form of the id, and the id on hover. A
 * readable agent is a link.
 */
export function Who({ id }: { id: string }) {
  const { may } = useSession();
  const { name, known } = useName(id);
  if (!known) return <span title={id}>{name}</span>;
  const canBeRead = id.startsWith("ag_") && (may("agents.list") || known.owner_user_id !== undefined);
  return canBeRead ? <Link to={`/agents/${id}`}>{name}</Link> : name;
}

const PATHS = { run: "/runs/", memory: "/memories/", document: "/documents/" };

interface Subjected {
  type: string;
  subject?: string | null | undefined;
  data?: unknown;
}

/** Returns what the subject of one of the service's own events names; undefined for other events. */
function kindOfSubject(type: string): keyof typeof PATHS | undefined {
  const [, kind] = /^(?:service\.)?(run|memory|document)\./.exec(type) ?? [];
  return type.startsWith("service.") || type === "memory.cited" ? (kind as keyof typeof PATHS) : undefined;
}

/** The subject of an event: of the service's own events, the title of what they are about, as a link. */
export function Subject({ event }: { event: Subjected }) {
  const { type, subject, data } = event;
  const kind = kindOfSubject(type);
  const { name, known } = useName(kind && subject ? titledId(kind, subject) : "");
  if (!subject) return "–";
  if (kind) {
    // By a short form of its id if it is deleted or not readable.
    if (!known) return <span title={subject}>{name}</span>;
    return <Link to={PATHS[kind] + subject}>{name}</Link>;
  }
  const { agent_id } = (data ?? {}) as { agent_id?: unknown };
  if (type !== "service.delivery.dead_lettered" || typeof agent_id !== "string") return subject;
  return (
    <>
      to <Who id={agent_id} />
    </>
  );
}

/** The same as text, for places that are links themselves. */
export function SubjectText({ event: { type, subject } }: { event: Subjected }) {
  const kind = kindOfSubject(type);
  const { name } = useName(kind && subject ? titledId(kind, subject) : "");
  return kind ? name : subject;
}

interface TileProps {
  name: string;
  value: ReactNode;
  /** Below the value: its meaning or a link. */
  note: ReactNode;
  tone?: "bad" | "warn" | undefined;
}

export function Tile({ name, value, note, tone }: TileProps) {
  return (
    <section className="tile" aria-label={name}>
      <p className="tile-name">{name}</p>
      <p className={tone ? `tile-value ${tone}` : "tile-value"}>{value}</p>
      <p className="tile-note">{note}</p>
    </section>
  );
}
