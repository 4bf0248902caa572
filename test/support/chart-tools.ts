import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./tools.ts";

const CACHE = join(import.meta.dirname, "../../node_modules/.cache/sensorium/chart");
const MODULES = ["helm.sh/helm/v3/cmd/helm@v3.22.0", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"];
/** A package of PyPI with the JSON schemas of all versions of Kubernetes. */
const SCHEMAS = {
  requirement: "kubernetes-validate==1.37.0",
  wheel: "kubernetes_validate-1.37.0-py3-none-any.whl",
  sha256: "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9",
};
/** By the versions, so that other ones are not taken for these. */
const bin = join(CACHE, MODULES.map((path) => path.replace(/^.*\/(.*)@/, "$1-")).join("-"));
const schemas = join(CACHE, SCHEMAS.requirement.replace("==", "-"));

export const HELM = join(bin, "helm");
export const KUBECONFORM = join(bin, "kubeconform");
/** The oldest Kubernetes that Chart.yaml allows, and a new one. */
export const KUBERNETES = ["1.27", "1.37"];
/** Where kubeconform finds the schemas of a version of Kubernetes. */
export const schemasOf = (kubernetes: string) =>
  join(schemas, kubernetes, "{{.ResourceKind}}{{.KindSuffix}}.json");

export const hasChartTools = () => [HELM, KUBECONFORM, schemas].every((file) => existsSync(file));

/** Has Go build helm and kubeconform, and pip fetch the schemas. @throws ToolsUnavailable */
export async function getChartTools(say: (line: string) => void): Promise<void> {
  if (hasChartTools()) return;
  say("building helm and kubeconform, once");
  await mkdir(CACHE, { recursive: true });
  for (const path of MODULES) await runTool("go", ["install", path], { env: { ...process.env, GOBIN: bin } });
  const { requirement, wheel, sha256 } = SCHEMAS;
  await runTool("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", CACHE, requirement]);
  const found = createHash("sha256")
    .update(await readFile(join(CACHE, wheel)))
    .digest("hex");
  if (found !== sha256) throw new Error(`${wheel} has SHA-256 ${found}, expected ${sha256}`);
  const unpacked = join(CACHE, "unpacked");
  await runTool("python3", ["-m", "zipfile", "-e", join(CACHE, wheel), unpacked]);
  for (const version of KUBERNETES) {
    const from = join(unpacked, "kubernetes_validate/kubernetes-json-schema", `v${version}.0-local-strict`);
    await copySchemas(from, join(unpacked, "used", version));
  }
  await rename(join(unpacked, "used"), schemas);
  await rm(unpacked, { recursive: true });
  await rm(join(CACHE, wheel));
}

/** Has schemas refer to each other as files, where their ids would have kubeconform ask kubernetes.io. */
async function copySchemas(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const text = await readFile(join(from, name), "utf8");
    const { $id, ...schema } = JSON.parse(text.replaceAll('"/api/_definitions.json#', '"_definitions.json#'));
    await writeFile(join(to, name), JSON.stringify(schema));
  }
}
