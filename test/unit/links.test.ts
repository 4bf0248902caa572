import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { NAMED_ADDRESS, WebLink } from "../../lib/contract/schema.ts";
import { compileCheck } from "../../lib/contract/validator.ts";
import { isWebLink } from "../../packages/console/src/data/links.ts";

const HARMFUL = [
  ...["javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)"],
  ...["\u0000javascript:alert(1)", "javascript://example.com/%0aalert(1)"],
  ...["data:text/html,<script>alert(1)</script>", "vbscript:msgbox(1)", "blob:https://example.com/1"],
  "view-source:https://example.com",
];

describe("a link of the web", () => {
  const check = compileCheck(Type.Object({ url: WebLink }));
  test.each(["https://example.com/a?b#c", "http://localhost:3000", "HTTPS://EXAMPLE.COM"])("is %s", (url) =>
    expect(check({ url })).toBeNull(),
  );
  test.each([...HARMFUL, "file:///etc/passwd", "s3://bucket/key", "/relative", "example.com", ""])(
    "is not %j",
    (url) => expect(check({ url })).toMatchObject({ type: "validation_failed", data: { field: "url" } }),
  );
});

describe("an address that names a thing", () => {
  const check = compileCheck(Type.Object({ uri: Type.String({ pattern: NAMED_ADDRESS }) }));
  test.each([
    ...["https://example.com", "s3://bucket/key", "gs://bucket/key", "git+https://example.com/a.git"],
    ..."git+ssh://git@example.com/a.git file:///notes.md file:a urn:isbn:1 sensorium://memories/1".split(" "),
    ...["docs/brief.md", "/tmp/a", "brief", "a/b:c", "?q=a:b", "#part", ""],
  ])("is %j", (uri) => expect(check({ uri })).toBeNull());
  test.each(HARMFUL)("is not %j", (uri) =>
    expect(check({ uri })).toMatchObject({ type: "validation_failed", data: { field: "uri" } }),
  );
});

describe("the console shows as a link", () => {
  test.each(["https://example.com/a", "http://localhost:3000"])("%s", (address) =>
    expect(isWebLink(address)).toBe(true),
  );
  test.each([...HARMFUL, "file:///a", "s3://bucket/a", "mailto:a@example.com", "/a", ""])(
    "not %j",
    (address) => expect(isWebLink(address)).toBe(false),
  );
});
