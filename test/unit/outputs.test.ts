import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isUuid } from "../../lib/ids.ts";
import { deriveTitle, slugsFor, toSlug } from "../../services/work/outputs/naming.ts";
import { renderHtml } from "../../services/work/outputs/render/html.ts";
import { ranked } from "../../services/work/outputs/search.ts";

describe("naming", () => {
  test.each([
    ["Release notes, May!", "release-notes-may"],
    ["Ünïcode — Жук 你好", "ünïcode-жук-你好"],
    ["हिन्दी", "हिन्दी"],
    ["***", "output"],
    ["Search!", "output-search"],
    ["0199C0DE-7a11-7c3e-9f00-5a1b2c3d4e5f", "output-0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"],
  ])("the slug of %j", (title, slug) => expect(toSlug(title)).toBe(slug));

  test.each([
    ["# One\n\n# Two", "One"],
    ["\ufeff---\r\ntitle: Settings\r\ntags: [a]\r\n---\r\nFirst words\r\n", "First words"],
    ["+++\ndraft = true\n+++\n# Plan", "Plan"],
    ["---\nWords between rules.\n---\n\nMore", "Words between rules."],
    ["Words\n\n---\n\n## *Then*", "Then"],
    ["```sh\n# no\n```\r\nUnder\r\n=====\r\n", "Under"],
    ["\n\n- just [a link](https://a.example)\n- more", "just a link"],
    ["```\n```", "Untitled"],
    ["---\n\n🦓🦒\n\nMore", "🦓🦒"],
    [`x${"🦓".repeat(300)}`, `x${"🦓".repeat(99)}`],
  ])("the title of %j", (text, title) => expect(deriveTitle(text)).toBe(title));

  test("is found in a long line in linear time", () => {
    const LONG = 524_288;
    for (const line of [
      `a${"[".repeat(LONG)}`,
      `# a${" ".repeat(LONG)}b`,
      "\n".repeat(LONG),
      "#\n".repeat(LONG / 2),
    ])
      expect(deriveTitle(line).length).toBeLessThanOrEqual(200);
  });

  test("any text has a title, and a slug that can stand in a path and is no id", () => {
    const id = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const title = deriveTitle(text);
        expect(title.trim()).not.toBe("");
        expect(title).not.toMatch(/[\r\n]/);
        for (const slug of slugsFor(title, id)) {
          expect(slug).toMatch(/^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u);
          expect(slug.length).toBeLessThan(200);
          expect(isUuid(slug)).toBe(false);
        }
      }),
    );
  });
});

describe("ranking", () => {
  const found = (_id: string, score: number, superseded_by: string | null = null) => ({
    ...{ _id, score, superseded_by },
  });
  const ids = (all: ReturnType<typeof found>[]) => ranked(all).map(({ _id }) => _id);

  test("a superseded one stands below what took its place, and that below what took its own", () =>
    expect(
      ids([found("old", 0.9, "new"), found("other", 0.5), found("new", 0.2, "newest"), found("newest", 0.4)]),
    ).toEqual(["other", "newest", "new", "old"]));

  test("without its replacement it stands where it is, and a circle ends", () => {
    expect(ids([found("a", 0.1), found("old", 0.9, "gone")])).toEqual(["old", "a"]);
    expect(ids([found("a", 0.3, "b"), found("b", 0.2, "a")]).sort()).toEqual(["a", "b"]);
  });
});

test("what runs from right to left does so in a page", () => {
  const hebrew = "אבג";
  expect(renderHtml(`${hebrew}\n\nplain`, hebrew)).toContain(`<p dir="auto">${hebrew}</p>`);
  expect(renderHtml("plain", "plain")).not.toContain("dir=");
});

test("no tag of a title is one", () =>
  expect(renderHtml("We go.", "A & <b>")).toContain("<body>\n<h1>A &amp; &lt;b&gt;</h1>\n<p>We go.</p>"));

test("nothing is loaded from elsewhere: images become links, or their text", () => {
  const page = renderHtml(
    [
      "![a plan](https://tracker.example/pixel.png)",
      '<img src="http://tracker.example/b.png">',
      '<img src="//tracker.example/c.png" alt="c"> ![d](/d.png) ![e](file:///e.png)',
      "![inner](data:image/png;base64,AAAA)",
      '<link rel="stylesheet" href="https://tracker.example/e.css"><style>@import "https://tracker.example/f.css"</style>',
      '<p style="background:url(https://tracker.example/g.png)">styled</p><video src="https://tracker.example/h.mp4"></video>',
      '<img srcset="https://tracker.example/i.png 2x" src="data:image/png;base64,BBBB">',
      '<base href="https://tracker.example/"><meta http-equiv="refresh" content="0;url=https://tracker.example/">',
    ].join("\n\n"),
    "Title",
  );
  expect(page).toContain('<a href="https://tracker.example/pixel.png">a plan</a>');
  expect(page).toContain('<a href="http://tracker.example/b.png">http://tracker.example/b.png</a>');
  expect(page).toContain("<em>c</em> <em>d</em> <em>e</em>");
  expect(page).toContain('<img src="data:image/png;base64,AAAA" alt="inner"');
  const [, policy] = /Content-Security-Policy" content="([^"]+)"/.exec(page) as unknown as [string, string];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|'self'/);
  // Whatever is left of an address is where a reader may go, and nothing that is loaded.
  expect(page.replace(/<a href="[^"]*">[^<]*<\/a>/g, "")).not.toMatch(/tracker\.example/);
});
