import { type ReactNode, useState } from "react";
import { useKept } from "../../data/use-kept.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Segments } from "../../ui/field.tsx";
import { Copy, Secret } from "../../ui/text.tsx";
import type { Snippet } from "./snippets.ts";

interface NewSecret {
  label: string;
  value: string;
  note: string;
  /** It cannot be had again, and the agent needs it. */
  needed: boolean;
}

interface Props {
  title: string;
  /** Above the secrets. */
  children?: ReactNode;
  secrets: NewSecret[];
  /** How to use them. */
  snippets?: readonly Snippet[];
  onClose(): void;
}

/** A dialog with secrets that are shown once: leaving it in any way asks before one is lost. */
export function NewSecrets({ title, children, secrets, snippets = [], onClose }: Props) {
  const needed = secrets.filter((secret) => secret.needed);
  const kept = useKept(needed.map(({ value }) => value));
  return (
    <Dialog wide title={title} onClose={() => kept.leave(onClose)} done="Done">
      <div className="stack" onCopy={() => kept.copied(getSelection()?.toString() ?? "")}>
        {children}
        {secrets.map(({ label, value, note }) => (
          <Secret key={label} label={label} value={value} note={note} onCopied={kept.copied} />
        ))}
        <Snippets of={snippets} onCopied={kept.copied} />
      </div>
    </Dialog>
  );
}

function Snippets({ of: snippets, onCopied }: { of: readonly Snippet[]; onCopied(text: string): void }) {
  const [shown, setShown] = useState<string | undefined>(snippets[0]?.key);
  const snippet = snippets.find(({ key }) => key === shown);
  if (!snippet) return null;
  const { label, hint, text } = snippet;
  return (
    <section className="snippets" aria-label="Connect the agent">
      <Segments
        label="Connect with"
        value={snippet.key}
        options={snippets.map(({ key, label: name }) => ({ value: key, label: name }))}
        onChange={setShown}
      />
      <p className="field-hint">{hint}</p>
      <div className="code-block">
        <Copy text={text} label={`Copy ${label}`} onCopied={onCopied} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
        <section className="code-scroll" tabIndex={0} aria-label={`${label} code`}>
          <pre>{text}</pre>
        </section>
      </div>
    </section>
  );
}
