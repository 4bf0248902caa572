import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { faultOf } from "../../.ci/commit-titles.ts";
import { ownFolder } from "../support/own-folder.ts";

describe("a title", () => {
  test.each([
    "Fix lost wake-up when NATS reconnects",
    "Return 503, not 500, when the MongoDB pool times out",
    ...["Feed the index in batches", "Bring the guides up to date", "Pass the tenant to every query"],
    "Embed passages in a separate thread",
    "Attach, pause and detach connectors from the command line",
    'Revert "Return 503, not 500, when the MongoDB pool of a worker node times out"',
    "x".repeat(72).replace("x", "X"),
  ])("%s", (title) => expect(faultOf(title)).toBeNull());

  test.each([
    ["Fixed lost wake-up", /imperative/],
    ["Fixes lost wake-up", /imperative/],
    ["Fixing lost wake-up", /imperative/],
    ["Made the store faster", /imperative/],
    ["The store is faster", /imperative/],
    ["fix lost wake-up", /capitalised/],
    ["fix(store): lost wake-up", /capitalised/],
    ["Store: fix lost wake-up", /capitalised/],
    ["Fix lost wake-up.", /punctuation/],
    ["x".repeat(73).replace("x", "X"), /has 73 characters; at most 72/],
  ])("%s is refused", (title, reason) => expect(faultOf(title)).toMatch(reason));
});

describe("the check of a repository", () => {
  const script = join(import.meta.dirname, "../../.ci/commit-titles.ts");
  let folder: string;
  beforeEach(async () => {
    folder = await ownFolder();
  });

  const check = () => spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
  const commit = (title: string, date: string) =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", title],
      { cwd: folder, env: { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date } },
    );

  test("older commits are not checked, newer ones are named with what is wrong", () => {
    execFileSync("git", ["init", "-q"], { cwd: folder });
    commit("docs: of old", "2026-01-01T00:00:00Z");
    commit("Add a page", "2026-12-01T00:00:00Z");
    expect(check()).toMatchObject({ status: 0, stderr: "" });
    commit("Added a page.", "2026-12-02T00:00:00Z");
    expect(check()).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^\w+ "Added a page\." ends in a punctuation mark; leave it out\n/),
    });
  });

  test("sources without a repository pass, and the reason is printed", () =>
    expect(check()).toMatchObject({ status: 0, stdout: expect.stringMatching(/not checked: .*git/) }));
});
