/** What looks like a secret, and what replaces it. */
const SECRETS: [RegExp, string][] = [
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
    "[redacted]",
  ],
  // Keys that name their kind: of Sensorium, OpenAI and Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, npm …
  [
    /\b(?:(?:ak|sk|rk)_(?:live|test)_|sk-|gh[opsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|hf_|pypi-|whsec_)[\w-]{10,}/g,
    "[redacted]",
  ],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "[redacted]"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [redacted]"],
  // The password of an address.
  [/(\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s:@/]{0,100}:)[^\s@/]+@/gi, "$1[redacted]@"],
  // NAME=value and "name": "value", with a name that says so.
  [
    /(\b[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key)\w{0,20}["']?\s{0,3}[=:]\s{0,3})(?:"[^"]{4,500}"|'[^']{4,500}'|[^\s"'&,;]{6,})/gi,
    "$1[redacted]",
  ],
  [/(\s--?(?:password|passphrase|secret|token|api-key)\s+)["']?[^\s"']+/gi, "$1[redacted]"],
];

/** Replaces what looks like a secret. Others remain: a transcript should contain none. */
export function redact(text: string): string {
  return SECRETS.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), text);
}
