import { expect, test } from "@jest/globals";
import { renderHtml } from "../../services/work/outputs/render/html.ts";

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
