import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { foreignNames } from "../../deploy/release/names.ts";
import { operations } from "../../services/contracts.ts";
import { FORMAT } from "../../storage/format.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const pages = globSync(
  "{*.md,.github/*.md,docs/**/*.md,extensions/*/README.md,packages/{*,integrations/*}/*.md,deploy/helm/**/*.md}",
  { cwd: ROOT },
).sort();

/** Each that a pattern finds in the pages, as `page: what`. */
function named(pattern: RegExp): { page: string; what: string }[] {
  return pages.flatMap((page) =>
    [...read(page).matchAll(pattern)].map(([, what]) => ({ page, what: what as string })),
  );
}

const shown = (those: { page: string; what: string }[]) => those.map(({ page, what }) => `${page}: ${what}`);

test("the upgrade notes name each format, and what is refused until all nodes know it", () => {
  const notes = read("docs/upgrades.md");
  for (let format = 1; format <= FORMAT; format++) expect(notes).toContain(`**Format ${format}.**`);
  const needed = operations.flatMap(({ needs = {}, method, url }) =>
    Object.keys(needs).map((path) => (path === "*" ? `${method} ${url}` : path.replace("memories.", ""))),
  );
  expect(needed.filter((each) => !notes.includes(`\`${each}\``))).toEqual([]);
  const numbers = operations.flatMap(({ needs = {} }) => Object.values(needs));
  expect(Math.max(...numbers)).toBe(FORMAT);
});

describe("what the documents name is there", () => {
  // Any extension may be gone.
  const isOfGoneExtension = (file: string) =>
    /^extensions\/[^/]+\//.test(file) && !existsSync(join(ROOT, file.split("/", 2).join("/")));
  const links = named(/\]\((?!https?:)([^)\s]+)\)/g);

  test("links", () => {
    expect(links.length).toBeGreaterThan(50);
    const broken = links.filter(({ page, what }) => {
      const [path = "", anchor] = what.split("#");
      const target = path ? join(dirname(page), path) : page;
      if (isOfGoneExtension(target)) return false;
      return !existsSync(join(ROOT, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(shown(broken)).toEqual([]);
  });

  test("scripts of npm", () => {
    const { scripts } = JSON.parse(read("package.json"));
    const scriptsNamed = named(/npm run ([\w:-]+)/g);
    expect(scriptsNamed.length).toBeGreaterThan(20);
    expect(shown(scriptsNamed.filter(({ what }) => !(what in scripts)))).toEqual([]);
  });

  test("files of code, by their path or their name", () => {
    const files = globSync("**/*.{ts,tsx,mjs,js,wat,java}", {
      cwd: ROOT,
      exclude: ["**/node_modules", "**/dist"],
    });
    const names = new Set(files.map((file) => basename(file)));
    const codes = named(/`([\w./-]+\.(?:ts|tsx|mjs|js|wat|java))`/g);
    expect(codes.length).toBeGreaterThan(100);
    // A file that readers create in the checkout, they also remove.
    const isReaders = ({ page, what }: { page: string; what: string }) =>
      /^cd \.\.\/|^rm /m.test(read(page)) && new RegExp(`^(rm|node) ${what}$`, "m").test(read(page));
    const lost = codes
      .filter(({ what }) => !isOfGoneExtension(what))
      .filter(({ page, what }) =>
        what.includes("/") ? !existsSync(join(ROOT, what)) : !names.has(what) && !isReaders({ page, what }),
      );
    expect(shown(lost)).toEqual([]);
  });
});

test("the server's package says in its first lines which Node it needs", () => {
  const { node } = JSON.parse(read("packages/mongoose-sqlite/package.json")).engines;
  const [opening = ""] = read("deploy/release/readmes/sensorium-server.md").split("```");
  expect(opening).toContain(`Node ${node.replace(">=", "").replace(/\.0$/, "")} or newer`);
});

test("nothing tells a reader to install or run a name that anybody could register", () => {
  const sources = globSync("{bin,docs,services,lib,extensions,packages}/**/*.{ts,tsx,js,py,json}", {
    cwd: ROOT,
    exclude: (file) => /(^|\/)(node_modules|dist|tests?|package(-lock)?\.json)$/.test(file),
  });
  const found = [...pages.filter((page) => !/CHANGELOG|decisions\//.test(page)), ...sources].flatMap((file) =>
    namesIn(read(file)).map((name) => `${file}: ${name}`),
  );
  expect(found).toEqual([]);
  expect(
    namesIn("`npx -y sensorium@latest mcp`, `pip install 'ai-sdk-sensorium'`, `npm i ./sensorium-0.1.0.tgz`"),
  ).toEqual(["sensorium", "ai-sdk-sensorium"]);
  expect(namesIn('"command": "npx", "args": ["-y", "sensorium", "mcp"]')).toEqual(["sensorium"]);
});

/** The names of packages that a text fetches from a registry, though they are not registered for this project. */
function namesIn(text: string): string[] {
  const foreign = new Set(foreignNames().map(({ name }) => name));
  const fetching =
    /\b(?:npx|bunx|uvx|pipx|pnpm dlx|yarn dlx|(?:npm|pnpm|yarn|bun) (?:install|i|add|exec|create)|uv (?:add|tool)|pip3? install)\b([^\n|&;`]*)/g;
  return [...text.matchAll(fetching)]
    .flatMap(([, rest = ""]) => rest.split(/[\s"'`\\,[\]()]+/))
    .map((word) => word.replace(/(?<=.)(?:@|==|>=|~=).*$/, ""))
    .filter((word) => foreign.has(word));
}

const INTEGRATION = { ts: "integrations.test.ts", sh: "integrations.test.ts" };
const PYTHON = { python: "projects.test.ts", console: "projects.test.ts" };
/** The test that runs a page's blocks of each language, or why none can. */
const RUN_BY: Record<string, Record<string, string>> = {
  "README.md": {
    ...{ sh: "examples.test.ts", json: "mcp-bridge.test.ts", ts: "examples.test.ts" },
    python: "projects.test.ts",
  },
  "packages/client/README.md": { ts: "client-package.test.ts" },
  "packages/mongoose-sqlite/README.md": { ts: "driver.test.ts" },
  "packages/python/README.md": { python: "projects.test.ts", console: "needs PyPI" },
  "packages/integrations/claude-code/README.md": { sh: "claude-code.test.ts", ts: "claude-code.test.ts" },
  "packages/integrations/codex/README.md": { sh: "codex.test.ts" },
  "packages/integrations/gemini-cli/README.md": { sh: "gemini-cli.test.ts" },
  "packages/integrations/ai-sdk/README.md": INTEGRATION,
  "packages/integrations/langchain-js/README.md": INTEGRATION,
  "packages/integrations/langgraph-js/README.md": INTEGRATION,
  "packages/integrations/openai-agents-js/README.md": INTEGRATION,
  "packages/integrations/langchain-python/README.md": PYTHON,
  "packages/integrations/langgraph-python/README.md": PYTHON,
  "packages/integrations/openai-agents-python/README.md": PYTHON,
  "deploy/helm/sensorium/README.md": { yaml: "chart.test.ts" },
  "docs/extensions.md": { ts: "settings.test.ts" },
  "docs/atlas.md": { bash: "needs an Atlas" },
  "docs/guides/client.md": {
    ...{ sh: "in-order.test.ts", ts: "in-order.test.ts" },
    typescript: "client-package.test.ts",
  },
  "docs/guides/filters.md": { json: "filter-language.test.ts" },
  "docs/guides/operators-day.md": { sh: "operators-day.test.ts" },
  "docs/guides/receive.md": { sh: "in-order.test.ts", python: "in-order.test.ts" },
  "docs/runbooks/key-leaked.md": { sh: "rotation.test.ts" },
  "docs/mcp.md": { json: "mcp-bridge.test.ts", toml: "mcp-bridge.test.ts" },
  "docs/security.md": { sh: "needs a published release" },
  "docs/sharding.md": { js: "needs a sharded MongoDB" },
};
/** By folder, for pages without their own. */
const GUIDE = { sh: "in-order.test.ts" };
const RUNBOOK = { sh: "alerts.test.ts" };

test("programs and commands in the documents are run, or it is known why not", () => {
  const tests = new Set(
    globSync("{test,extensions/*/test,packages/{*,integrations/*}/test}/**/*.test.ts", { cwd: ROOT }).map(
      (file) => basename(file),
    ),
  );
  const blocks = named(/^```([a-z]+)$/gm).filter(({ what }) => what !== "text");
  const runner = ({ page, what }: { page: string; what: string }) =>
    (RUN_BY[page] ?? folderRunner(page))[what];
  function folderRunner(page: string): Record<string, string> {
    if (/^(docs\/guides|extensions)\//.test(page)) return GUIDE;
    return page.startsWith("docs/runbooks/") ? RUNBOOK : {};
  }
  expect(blocks.length).toBeGreaterThan(50);
  expect(shown(blocks.filter((each) => !runner(each)))).toEqual([]);
  const runners = new Set(
    blocks.map((each) => runner(each) as string).filter((by) => !by.startsWith("needs ")),
  );
  expect([...runners].filter((by) => !tests.has(by))).toEqual([]);
});

describe("guides", () => {
  const guides = pages.filter((page) => /^docs\/guides\/(?!README)/.test(page));

  test("each says before its first block what a reader has at the end, and needs", () => {
    expect(guides.length).toBeGreaterThan(5);
    const silent = guides.filter((page) => {
      const [opening = ""] = read(page).split("```");
      return !/^# .+\n\nAt the end you have /.test(opening) || !opening.includes("\nYou need");
    });
    expect(silent).toEqual([]);
  });

  test("the table of contents has all of them", () => {
    const index = read("docs/guides/README.md");
    expect(guides.filter((page) => !index.includes(`](${basename(page)})`))).toEqual([]);
  });
});

describe("decisions", () => {
  const decisions = pages.filter((page) => /^docs\/decisions\/\d/.test(page));

  test("each is headed by its number", () => {
    const other = decisions.filter(
      (page) => !read(page).startsWith(`# ${Number(basename(page).slice(0, 4))}. `),
    );
    expect(other).toEqual([]);
  });

  test("the index has each of them under its title, in order", () => {
    const rows = [...read("docs/decisions/README.md").matchAll(/^\| \[.*$/gm)].map(([row]) => row);
    expect(rows).toEqual(
      decisions.map((page) => {
        const [, number, title] = /^# (\d+)\. (.+)/.exec(read(page)) ?? [];
        return `| [${number}](${basename(page)}) | ${title} |`;
      }),
    );
  });
});

/** The anchors that headings of a page have on GitHub. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
