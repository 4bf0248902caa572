import { useSyncExternalStore } from "react";
import { IconButton } from "./button.tsx";
import { CircleAlert, CircleCheck, X } from "./icons.tsx";

interface Toast {
  id: number;
  tone: "good" | "bad";
  title: string;
}

const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let next = 0;
const listeners = new Set<() => void>();

function change(to: readonly Toast[]): void {
  toasts = to;
  for (const listener of listeners) listener();
}

const drop = (id: number) => change(toasts.filter((each) => each.id !== id));

/** Shows a brief notice of success or failure. Errors stay until closed. */
export function toast({ tone = "good", title }: { tone?: Toast["tone"]; title: string }): void {
  const id = next++;
  change([...toasts.slice(-3), { id, tone, title }]);
  if (tone === "good") setTimeout(() => drop(id), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, title }) => (
        <div key={id} className={`toast ${tone}`}>
          {tone === "good" ? <CircleCheck aria-hidden size={18} /> : <CircleAlert aria-hidden size={18} />}
          <p className="grow">{title}</p>
          <IconButton icon={X} label="Dismiss" onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  );
}
