/** @needs pypi */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { quoteExcerpt } from "../../packages/client/index.ts";
import { api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { pythonOfTests, runPython } from "../support/python.ts";
import { OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const CLIENT = "packages/python";
/** Each has a pyproject.toml, `src` and `tests`. */
const PROJECTS = [
  CLIENT,
  ...["langchain", "langgraph", "openai-agents"].map((name) => `packages/integrations/${name}-python`),
];

/** Frameworks are other people's programs: their projects are checked by `npm run test:all`. */
const CHECKED = process.env.SENSORIUM_TEST_ALL === undefined ? [CLIENT] : PROJECTS;

const ROOT = join(import.meta.dirname, "../..");
const EXTENSIONS = "../../extensions/*/test/python/test_*.py";
/** Found without being installed. */
const PYTHONPATH = [...PROJECTS.map((folder) => `${folder}/src`), `${CLIENT}/tests`]
  .map((folder) => join(ROOT, folder))
  .join(":");
const out = await ownFolder();

// Its own: operators list and suspend tenants.
const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });

const python = (folder: string, args: string[], more = {}) =>
  runPython(pythonOfTests(), args, {
    folder,
    env: { PYTHONPATH, MYPYPATH: PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1", ...more },
  });

/** The server with an empty tenant, as `packages/python/tests/real_server.py` reads it. */
async function newTenant(): Promise<string> {
  const slug = `python-${++tenants}`;
  const body = { slug, name: slug, admin_email: `admin@${slug}.example` };
  const { admin, agent } = ok(await api(server, OPERATOR_TOKEN).post("/tenants", body));
  const person = { email: admin.email, password: admin.password };
  return JSON.stringify({ url: server.root, api_key: agent.api_key, agent_id: agent.id, person });
}
let tenants = 0;

test("no project has a finding of ruff, and all are formatted", async () => {
  // Tests of extensions are those of the client.
  const config = ["--config", `${CLIENT}/pyproject.toml`, "extensions"];
  for (const check of [["check"], ["format", "--check"]])
    for (const files of [PROJECTS, config])
      expect(await python(".", ["-m", "ruff", ...check, "--no-cache", ...files])).toMatchObject({ code: 0 });
});

test("quotes for models as the other client does, also what is too long", async () => {
  const pieces = Object.entries({ "Parcel 7 `lost`\r\n": 1, "```\u202e über 12\n": 4000 });
  const program =
    "import json, sys, sensorium as s; print(json.dumps([s.quote_excerpt(a * n, sys.argv[2]) for a, n in json.loads(sys.argv[1])]))";
  const { output } = await python(".", ["-c", program, JSON.stringify(pieces), "call it"]);
  expect(JSON.parse(output)).toEqual(pieces.map(([text, n]) => quoteExcerpt(text.repeat(n), "call it")));
});

describe.each(CHECKED)("%s", (folder) => {
  // The projects after the first find what they share in its cache.
  test("has the types that it says", async () => {
    const checked = await python(folder, ["-m", "mypy", "--cache-dir", join(out, "mypy")]);
    expect(checked).toMatchObject({ code: 0, output: expect.stringContaining("no issues found") });
  }, 180_000);

  test("passes its tests", async () => {
    const report = join(out, "report.xml");
    // Those of extensions too, with the fixtures of the client's.
    const tests =
      folder === CLIENT ? ["tests", ...globSync(EXTENSIONS, { cwd: join(ROOT, folder) })] : ["tests"];
    const args = [
      ...["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "real_server"],
      ...tests,
      `--junitxml=${report}`,
    ];
    const { output } = await python(folder, args, { SENSORIUM_TEST_SERVER: await newTenant() });
    const xml = readFileSync(report, "utf8");
    const cases = [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(\/>|>\s*<(\w+))/g)];
    const failed = cases
      .filter(([, , , , then]) => then === "failure" || then === "error")
      .map(([, file, name]) => `${file} › ${name}`);
    expect({ failed, output: failed.length ? output : "" }).toEqual({ failed: [], output: "" });
    expect(cases.length).toBeGreaterThan(5);
  }, 180_000);

  test("is built as a package with its types", async () => {
    const to = join(out, folder);
    expect(await python(folder, ["-m", "hatchling", "build", "-t", "wheel", "-d", to])).toMatchObject({
      code: 0,
    });
    const list = "import glob, sys, zipfile; print(zipfile.ZipFile(glob.glob(sys.argv[1])[0]).namelist())";
    expect((await python(folder, ["-c", list, join(to, "*.whl")])).output).toContain("py.typed");
  });
});
