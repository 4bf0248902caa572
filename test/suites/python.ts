import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { pythonOfTests, runPython } from "../support/python.ts";

/** Each has a pyproject.toml, `src` and `tests`. */
export const INTEGRATIONS = ["langchain", "langgraph", "openai-agents"].map(
  (name) => `packages/integrations/${name}-python`,
);
export const CLIENT = "packages/python";

/** Found without being installed. */
const PYTHONPATH = [...[CLIENT, ...INTEGRATIONS].map((folder) => `${folder}/src`), "packages/python/tests"]
  .map((folder) => join(import.meta.dirname, "../..", folder))
  .join(":");
const out = mkdtempSync(join(tmpdir(), "sensorium-python-"));
afterAll(() => rmSync(out, { recursive: true }));

const python = (folder: string, ...args: string[]) =>
  runPython(pythonOfTests(), args, {
    folder,
    env: { PYTHONPATH, MYPYPATH: PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" },
  });

/** Declares the tests of a Python project: what ruff and mypy find, its own tests, and its package. */
export function testPython(folder: string): void {
  test("has no finding of ruff, and is formatted", async () => {
    expect(await python(folder, "-m", "ruff", "check", "--no-cache", ".")).toMatchObject({ code: 0 });
    expect(await python(folder, "-m", "ruff", "format", "--no-cache", "--check", ".")).toMatchObject({
      code: 0,
    });
  });

  test("has the types that it says", async () => {
    const checked = await python(folder, "-m", "mypy", "--cache-dir", join(out, "mypy"));
    expect(checked).toMatchObject({ code: 0, output: expect.stringContaining("no issues found") });
  }, 180_000);

  test("passes its tests", async () => {
    const report = join(out, "report.xml");
    const { output } = await python(
      folder,
      "-m",
      "pytest",
      "-q",
      "-p",
      "no:cacheprovider",
      `--junitxml=${report}`,
    );
    const xml = readFileSync(report, "utf8");
    const cases = [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(\/>|>\s*<(\w+))/g)];
    const failed = cases.filter(([, , , , then]) => then === "failure" || then === "error");
    expect({
      failed: failed.map(([, file, name]) => `${file} › ${name}`),
      output: failed.length ? output : "",
    }).toEqual({
      failed: [],
      output: "",
    });
    expect(cases.length).toBeGreaterThan(5);
    // A whole suite, with servers of its own.
  }, 180_000);

  test("is built as a package with its types", async () => {
    expect(await python(folder, "-m", "hatchling", "build", "-t", "wheel", "-d", out)).toMatchObject({
      code: 0,
    });
    const list = [
      "-c",
      "import glob, sys, zipfile; print(zipfile.ZipFile(glob.glob(sys.argv[1])[0]).namelist())",
    ];
    const { output } = await python(folder, ...list, join(out, "*.whl"));
    expect(output).toContain("py.typed");
  });
}
