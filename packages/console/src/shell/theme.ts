import { useSyncExternalStore } from "react";
import { newStore } from "../data/store.ts";
import { store } from "../data/stored.ts";
import { Monitor, Moon, Sun } from "../ui/icons.tsx";

export type Theme = "system" | "light" | "dark";

export const THEMES = [
  { theme: "system", label: "System theme", icon: Monitor },
  { theme: "light", label: "Light theme", icon: Sun },
  { theme: "dark", label: "Dark theme", icon: Moon },
] as const;

const KEY = "sensorium.theme";
/** The page sets it before anything is shown (index.html). */
const { theme: first } = document.documentElement.dataset;
const chosen = newStore<Theme>(first === "light" || first === "dark" ? first : "system");

export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  // If it cannot be stored, the choice lasts until the page is closed.
  store(KEY, theme === "system" ? null : theme);
  chosen.set(theme);
}

export const useTheme = () => chosen.use((theme) => theme);

/** Whether the page is dark now, by choice or by the system: for drawings that CSS cannot style. */
export function useDark(): boolean {
  const theme = useTheme();
  const system = useSyncExternalStore(subscribeSystem, () => DARK.matches);
  return theme === "system" ? system : theme === "dark";
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

function subscribeSystem(listener: () => void): () => void {
  DARK.addEventListener("change", listener);
  return () => DARK.removeEventListener("change", listener);
}
