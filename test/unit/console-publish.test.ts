import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { publish } from "../../packages/console/publish.ts";
import { ownFolder } from "../support/own-folder.ts";

const served = join(await ownFolder(), "dist");
const built = join(served, ".built");

function build(script: string): void {
  mkdirSync(join(built, "assets"), { recursive: true });
  writeFileSync(join(built, "index.html"), `<script src="/assets/${script}">`);
  writeFileSync(join(built, "assets", script), script);
}

/** As if what is served had been put there so long ago. */
function age(hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000);
  for (const file of ["index.html", ...scripts().map((name) => `assets/${name}`)])
    utimesSync(join(served, file), at, at);
}

const scripts = () => readdirSync(join(served, "assets")).sort();

test("keeps the previous build, whose scripts open pages still request, and removes older ones", () => {
  build("a.js");
  publish(built, served);
  expect(readFileSync(join(served, "index.html"), "utf8")).toContain("a.js");
  age(3);
  build("b.js");
  publish(built, served);
  expect(readFileSync(join(served, "index.html"), "utf8")).toContain("b.js");
  expect(scripts()).toEqual(["a.js", "b.js"]);
  build("c.js");
  publish(built, served);
  expect(scripts()).toEqual(["b.js", "c.js"]);
  expect(readdirSync(served).sort()).toEqual(["assets", "index.html"]);
});

test("a build without a page leaves what is served", () => {
  mkdirSync(built);
  expect(() => publish(built, served)).toThrow(/no index.html/);
  expect(scripts()).toEqual(["b.js", "c.js"]);
});
