import { join } from "node:path";
import { SETTINGS } from "../../config.ts";
import { ALL_SETTINGS } from "../../services/extensions.ts";
import { HELM } from "./chart-tools.ts";
import { startChild } from "./child.ts";

export const CHART = join(import.meta.dirname, "../../deploy/helm/sensorium");
export const GOLDEN = join(import.meta.dirname, "../../deploy/helm/golden");

/** The golden files, and the values of each. */
export const VALUES: Record<string, string[]> = {
  default: [],
  full: ["--values", join(GOLDEN, "full.values.yaml")],
};

/** Output of `helm template` for a release with these values, without settings of extensions: any of them may be gone. */
export async function render(name: string): Promise<string> {
  const { code, output } = await template(
    "sensorium",
    "--namespace",
    "agents",
    ...(VALUES[name] as string[]),
  );
  if (code !== 0) throw new Error(output);
  return withoutExtensions(output);
}

/** Leaves out variables of containers that only an extension reads. */
export function withoutExtensions(manifests: string): string {
  // An entry and what is indented further: `- name: X`, then its value or where it is from.
  return manifests.replace(/^( +)- name: ([A-Z0-9_]+)\n(?:\1 +.*\n)+/gm, (entry, _indent, name: string) =>
    name in ALL_SETTINGS && !(name in SETTINGS) ? "" : entry,
  );
}

/** `helm template`, for the oldest Kubernetes that Chart.yaml allows. */
export function template(release: string, ...args: string[]) {
  return helm("template", release, CHART, "--kube-version", "1.27.0", ...args);
}

export async function helm(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = await startChild(HELM, args);
  const { code } = await child.exited;
  return { code, output: child.output() };
}
