import { Type } from "./type.ts";

/** Where a person is led to by a link: a page of the web. Other schemes could run code in the reader's browser. */
export const WebLink = Type.String({
  format: "uri",
  pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
  maxLength: 2000,
  examples: ["https://example.com/tickets/7"],
});

/** What names a thing that is not opened by a browser: stores of files and repositories. Names alone have no scheme. */
const NAMING_SCHEMES = [
  ...["https?", "s3", "gs", "az", "abfss?", "git", "git\\+https", "git\\+ssh", "ssh", "sftp", "file", "urn"],
  "afferent",
];

/**
 * A scheme of the list, or none: then the first of `:`, `/`, `?` and `#` is not a colon. So neither `javascript:` nor
 * `data:` fits, whatever white space is put before or into it.
 */
export const NAMED_ADDRESS = `^((${NAMING_SCHEMES.join("|")}):|[^:/?#]*([/?#]|$))`;
