import { Type } from "typebox";

/** The address of a link for people: a web page. Other schemes could run code in the reader's browser. */
export const WebLink = Type.String({
  format: "uri",
  pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
  maxLength: 2000,
  description: "Web page, http or https.",
  examples: ["https://example.com/tickets/7"],
});

/** Schemes of addresses that browsers do not open: file stores and repositories. Plain names have no scheme. */
const NAMING_SCHEMES = [
  ...["https?", "s3", "gs", "az", "abfss?", "git", "git\\+https", "git\\+ssh", "ssh", "sftp", "file", "urn"],
  "sensorium",
];

/**
 * A listed scheme, or none: then the first of `:`, `/`, `?` and `#` is not a colon. This excludes `javascript:` and
 * `data:`, even with white space before or inside them.
 */
export const NAMED_ADDRESS = `^((${NAMING_SCHEMES.join("|")}):|[^:/?#]*([/?#]|$))`;
