/** The longest time of a timer, 24.8 days: it fires at once for a longer one. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls back after `ms` milliseconds, however many, but for Infinity. Returns a function that cancels it. */
export function after(ms: number, call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number) => {
    const next = () => (left > LONGEST_TIMER_MS ? wait(left - LONGEST_TIMER_MS) : call());
    timer = setTimeout(next, Math.min(left, LONGEST_TIMER_MS));
  };
  if (ms !== Number.POSITIVE_INFINITY) wait(ms);
  return () => clearTimeout(timer);
}

/** Resolves after `ms` milliseconds. @throws the signal's reason if it aborts first */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const left = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(ms, () => {
      signal?.removeEventListener("abort", left);
      resolve();
    });
    signal?.addEventListener("abort", left, { once: true });
  });
}

/** Returns 128 random bits; `crypto.randomUUID` is missing on pages loaded over plain HTTP. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Controls that move a terminal's cursor, change its state or write its clipboard, or reverse the text around them. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text that does nothing to a terminal, its controls escaped as in JSON: JSON stays the same. */
export function escapeControls(text: string): string {
  const escaped = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replaceAll("\r\n", "\n").replace(CONTROLS, escaped);
}
