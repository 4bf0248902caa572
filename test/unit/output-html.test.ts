import { expect, test } from "@jest/globals";
import { renderHtml } from "../../services/outputs/render/html.ts";

test("what runs from right to left does so in a page", () => {
  const hebrew = "אבג";
  expect(renderHtml(`${hebrew}\n\nplain`, hebrew)).toContain(`<p dir="auto">${hebrew}</p>`);
  expect(renderHtml("plain", "plain")).not.toContain("dir=");
});

test("no tag of a title is one", () => {
  expect(renderHtml("We go.", "A & <b>")).toContain("<body>\n<h1>A &amp; &lt;b&gt;</h1>\n<p>We go.</p>");
});
