// A copy of lib/text/redact.ts, written by `npm run openapi`.
/** A quotation mark, with what escapes it within JSON, however deep, or in an address. */
const QUOTE = /(?:\\{0,15}["'`]|%22)/.source;
/** A name of a header or field, and what separates it from its value. */
const IS = `(?:${QUOTE}?[ \\t]{0,3}(?:=>|[=:]|%3[AD])\\s{0,3}|${QUOTE}\\s{0,3},\\s{0,3}(?=${QUOTE}))`;
/** A name that says that its value is secret. */
const NAME =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|signature|jwt)\w{0,20}/
    .source;
const SCHEME =
  /(?:Bearer|Basic|Digest|Token|ApiKey|Negotiate|NTLM|HOBA|Hawk|OAuth|DPoP|GNAP|Signature|vapid|SharedKey(?:Lite)?|SCRAM-SHA-\d+|AWS(?:4-[\w-]+)?)/
    .source;
/** The fields of a header such as `Authorization: Digest username="a", response="b"`. */
const FIELD = `[\\w-]{1,40}=(?:${QUOTE}[^"'\`\\\\\\n]{0,1000}${QUOTE}|[^\\s,"'\`\\\\]{1,1000})`;
/** To the same quotation mark, or to the end of the line if that was cut off. */
const quoted = (group: number) => `(?:[\\s\\S]{0,2000}?(?<!\\\\)\\${group}|[^\\r\\n]*)`;
const GONE = "[redacted]";

/**
 * Patterns of secrets, their replacements, and the flags. Written for JavaScript and Python: packages/python has a
 * generated copy.
 */
export const SECRETS: readonly (readonly [pattern: string, replacement: string, flags: "g" | "gi"])[] = [
  // Private keys, also without their beginning.
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)/
      .source,
    GONE,
    "g",
  ],
  [/^(?:[\w+/=]{1,128}\s{1,4}){1,900}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/.source, GONE, "g"],
  // Keys that name their kind: of Sensorium, OpenAI and Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, npm …
  [
    /\b(?:(?:ak|sk|rk)_(?:live|test)_|sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|hf_|pypi-|whsec_)[\w-]{10,}/
      .source,
    GONE,
    "g",
  ],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/.source, GONE, "g"],
  // Proof of who calls, by any scheme; then without a scheme.
  [`\\b(${SCHEME}[ \\t]{1,9})${FIELD}(?:[ \\t]{0,9},[ \\t]{0,9}${FIELD}){0,30}`, `$1${GONE}`, "gi"],
  [`(\\bauthorization${IS}\\[?\\s{0,9}${QUOTE}?${SCHEME}[ \\t]{1,9})[\\w.~+/=-]+`, `$1${GONE}`, "gi"],
  [
    /\b((?:[Bb]asic|BASIC|[Bb]earer|BEARER)[ \t]{1,9})(?=[\w.~+/-]{0,999}(?:[\d=+/]|[a-z][A-Z]))[\w.~+/=-]{8,}/
      .source,
    `$1${GONE}`,
    "g",
  ],
  [
    `(\\bauthorization${IS}${QUOTE}?)(?!\\s{0,9}${QUOTE}?(?:${SCHEME}\\b|\\[))(?=\\S)[^\\r\\n"'\`\\\\]+`,
    `$1${GONE}`,
    "gi",
  ],
  // Cookies, to the end of the header.
  [
    `(\\bcookie2?${IS}\\[?\\s{0,9})(${QUOTE})${quoted(2)}(?:\\s{0,9},\\s{0,9}${QUOTE}[^"'\`\\n]*=[^"'\`\\n]*${QUOTE})*`,
    `$1${GONE}`,
    "gi",
  ],
  [`(\\bcookie2?[ \\t]{0,3}:[ \\t]{0,3})(?!\\[|${QUOTE})(?=\\S)[^\\r\\n"'\`\\\\]+`, `$1${GONE}`, "gi"],
  // The caller in an address: a password, or all.
  [/(\b[a-z][a-z\d+.-]{0,20}:(?:\\?\/){2}[^\s:@/"'\\]{0,300}:)[^\s@/"'\\]+@/.source, `$1${GONE}@`, "gi"],
  [/(\b[a-z][a-z\d+.-]{0,20}:(?:\\?\/){2})[^\s:@/"'\\?#]{1,300}@/.source, `$1${GONE}@`, "gi"],
  // NAME=value and "name": "value" with a name that says so, also in JSON within JSON, and <name>value</name>.
  [
    `(${NAME}${IS})(?:(${QUOTE})(?!\\2)${quoted(2)}|(?!\\d{1,12}\\b)[^\\s"'\`&,;\\\\]{6,})`,
    `$1${GONE}`,
    "gi",
  ],
  [`((?:passw(?:or)?d|passphrase|pwd)[=:] ?)(?!\\[)[^\\s"'\`&,;\\\\]+`, `$1${GONE}`, "gi"],
  [`(<[\\w.:-]{0,40}${NAME}>)[^<\\n]+`, `$1${GONE}`, "gi"],
  [`(\\bsig=)[\\w%+/=-]{16,}`, `$1${GONE}`, "gi"],
  // Arguments of commands.
  [
    `((?:^|\\s)--?(?:password|passphrase|secret|token|api-key|cookie)\\s+)(?:(["'])[^"'\\n]+\\2|[^\\s"']+)`,
    `$1${GONE}`,
    "gi",
  ],
  [/((?:^|\s)(?:-u|--user|--proxy-user)[ =]["']?[^\s:"']{1,100}:)[^\s"']+/.source, `$1${GONE}`, "g"],
];

const PATTERNS = SECRETS.map(
  ([pattern, replacement, flags]) => [new RegExp(pattern, flags), replacement] as const,
);

/** Replaces what looks like a secret in a log, a reason or a transcript, once. Others remain: they should contain none. */
export function redact(text: string): string {
  return text.split(GONE).map(redactPart).join(GONE);
}

function redactPart(text: string): string {
  return PATTERNS.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), text);
}
