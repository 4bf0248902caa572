import { join } from "node:path";
import { HELM } from "./chart-tools.ts";
import { startChild } from "./child.ts";

export const CHART = join(import.meta.dirname, "../../deploy/helm/sensorium");
export const GOLDEN = join(import.meta.dirname, "../../deploy/helm/golden");

/** The golden files, and the values of each. */
export const VALUES: Record<string, string[]> = {
  default: [],
  full: ["--values", join(GOLDEN, "full.values.yaml")],
};

/** What `helm template` prints of a release with these values. */
export async function render(name: string): Promise<string> {
  const { code, output } = await template(
    "sensorium",
    "--namespace",
    "agents",
    ...(VALUES[name] as string[]),
  );
  if (code !== 0) throw new Error(output);
  return output;
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
