import { useSyncExternalStore } from "react";
import { store } from "../data/stored.ts";

export type Theme = "system" | "light" | "dark";

const KEY = "sensorium.theme";
const listeners = new Set<() => void>();

function current(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  // If it cannot be stored, the choice lasts until the page is closed.
  store(KEY, theme === "system" ? null : theme);
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, current);
}

/** Whether the page is dark now, by choice or by the system: for drawings that CSS cannot style. */
export function useDark(): boolean {
  const theme = useTheme();
  const system = useSyncExternalStore(subscribeSystem, () => DARK.matches);
  return theme === "system" ? system : theme === "dark";
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function subscribeSystem(listener: () => void): () => void {
  DARK.addEventListener("change", listener);
  return () => DARK.removeEventListener("change", listener);
}
