import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

interface Entry {
  version: string;
  integrity?: string;
  resolved?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  link?: boolean;
}

/** Packages that `npm run lock:complete` adds, and reports, if the registry lacks a platform's build. */
const UNVERIFIED = /^node_modules\/@(biomejs\/cli|swc\/core|unrs\/resolver-binding)-/;

test("every package is locked to its content", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Entry> };
  // Those of this repository come with it.
  const isOwn = ([name, { link }]: [string, Entry]) => link || !name.startsWith("node_modules/");
  const locked = Object.fromEntries(Object.entries(packages).filter((each) => !isOwn(each)));
  expect(Object.keys(locked).length).toBeGreaterThan(500);
  const unverified = Object.entries(locked).filter(([, { integrity }]) => !integrity);
  for (const [name, entry] of Object.entries(locked)) {
    if (entry.integrity)
      expect([name, entry.integrity]).toEqual([name, expect.stringMatching(/^sha512-[\w+/]{86}==$/)]);
    expect([name, entry.resolved ?? "https://registry.npmjs.org/"]).toEqual([
      name,
      expect.stringMatching(/^https:\/\/registry\.npmjs\.org\//),
    ]);
  }
  for (const [name, { optional, os, cpu, libc }] of unverified) {
    expect(name).toMatch(UNVERIFIED);
    expect([name, optional]).toEqual([name, true]);
    // Where the image and continuous integration run, nothing is left to trust.
    const isOurs = os?.includes("linux") && cpu?.some((each) => /^(x64|arm64)$/.test(each));
    expect([name, isOurs && !libc?.includes("musl")]).toEqual([name, false]);
  }
});

test("the actions of continuous integration are pinned to a commit, with the version it is", () => {
  const folder = ".github/workflows";
  const used = readdirSync(join(ROOT, folder)).flatMap((file) =>
    [...read(`${folder}/${file}`).matchAll(/uses: (.+)$/gm)].map(([, action]) => action as string),
  );
  expect(used.length).toBeGreaterThan(0);
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
