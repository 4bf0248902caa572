# Written by `npm run openapi` from lib/text/redact.ts: change that.
"""What looks like a secret."""

import re

_GONE = "[redacted]"
_SECRETS = [
    (re.compile("-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\\s\\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)", 0), "[redacted]"),
    (re.compile("^(?:[\\w+/=]{1,128}\\s{1,4}){1,900}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----", 0), "[redacted]"),
    (re.compile("\\b(?:(?:ak|sk|rk)_(?:live|test)_|sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|hf_|pypi-|whsec_)[\\w-]{10,}", 0), "[redacted]"),
    (re.compile("\\beyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*", 0), "[redacted]"),
    (re.compile("\\b((?:Bearer|Basic|Digest|Token|ApiKey|Negotiate|NTLM|HOBA|Hawk|OAuth|DPoP|GNAP|Signature|vapid|SharedKey(?:Lite)?|SCRAM-SHA-\\d+|AWS(?:4-[\\w-]+)?)[ \\t]{1,9})[\\w-]{1,40}=(?:(?:\\\\{0,15}[\"'`]|%22)[^\"'`\\\\\\n]{0,1000}(?:\\\\{0,15}[\"'`]|%22)|[^\\s,\"'`\\\\]{1,1000})(?:[ \\t]{0,9},[ \\t]{0,9}[\\w-]{1,40}=(?:(?:\\\\{0,15}[\"'`]|%22)[^\"'`\\\\\\n]{0,1000}(?:\\\\{0,15}[\"'`]|%22)|[^\\s,\"'`\\\\]{1,1000})){0,30}", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(\\bauthorization(?:(?:\\\\{0,15}[\"'`]|%22)?[ \\t]{0,3}(?:=>|[=:]|%3[AD])\\s{0,3}|(?:\\\\{0,15}[\"'`]|%22)\\s{0,3},\\s{0,3}(?=(?:\\\\{0,15}[\"'`]|%22)))\\[?\\s{0,9}(?:\\\\{0,15}[\"'`]|%22)?(?:Bearer|Basic|Digest|Token|ApiKey|Negotiate|NTLM|HOBA|Hawk|OAuth|DPoP|GNAP|Signature|vapid|SharedKey(?:Lite)?|SCRAM-SHA-\\d+|AWS(?:4-[\\w-]+)?)[ \\t]{1,9})[\\w.~+/=-]+", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("\\b((?:[Bb]asic|BASIC|[Bb]earer|BEARER)[ \\t]{1,9})(?=[\\w.~+/-]{0,999}(?:[\\d=+/]|[a-z][A-Z]))[\\w.~+/=-]{8,}", 0), "\\g<1>[redacted]"),
    (re.compile("(\\bauthorization(?:(?:\\\\{0,15}[\"'`]|%22)?[ \\t]{0,3}(?:=>|[=:]|%3[AD])\\s{0,3}|(?:\\\\{0,15}[\"'`]|%22)\\s{0,3},\\s{0,3}(?=(?:\\\\{0,15}[\"'`]|%22)))(?:\\\\{0,15}[\"'`]|%22)?)(?!\\s{0,9}(?:\\\\{0,15}[\"'`]|%22)?(?:(?:Bearer|Basic|Digest|Token|ApiKey|Negotiate|NTLM|HOBA|Hawk|OAuth|DPoP|GNAP|Signature|vapid|SharedKey(?:Lite)?|SCRAM-SHA-\\d+|AWS(?:4-[\\w-]+)?)\\b|\\[))(?=\\S)[^\\r\\n\"'`\\\\]+", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(\\bcookie2?(?:(?:\\\\{0,15}[\"'`]|%22)?[ \\t]{0,3}(?:=>|[=:]|%3[AD])\\s{0,3}|(?:\\\\{0,15}[\"'`]|%22)\\s{0,3},\\s{0,3}(?=(?:\\\\{0,15}[\"'`]|%22)))\\[?\\s{0,9})((?:\\\\{0,15}[\"'`]|%22))(?:[\\s\\S]{0,2000}?(?<!\\\\)\\2|[^\\r\\n]*)(?:\\s{0,9},\\s{0,9}(?:\\\\{0,15}[\"'`]|%22)[^\"'`\\n]*=[^\"'`\\n]*(?:\\\\{0,15}[\"'`]|%22))*", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(\\bcookie2?[ \\t]{0,3}:[ \\t]{0,3})(?!\\[|(?:\\\\{0,15}[\"'`]|%22))(?=\\S)[^\\r\\n\"'`\\\\]+", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(\\b[a-z][a-z\\d+.-]{0,20}:(?:\\\\?\\/){2}[^\\s:@/\"'\\\\]{0,300}:)[^\\s@/\"'\\\\]+@", re.IGNORECASE), "\\g<1>[redacted]@"),
    (re.compile("(\\b[a-z][a-z\\d+.-]{0,20}:(?:\\\\?\\/){2})[^\\s:@/\"'\\\\?#]{1,300}@", re.IGNORECASE), "\\g<1>[redacted]@"),
    (re.compile("((?:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|signature|jwt)\\w{0,20}(?:(?:\\\\{0,15}[\"'`]|%22)?[ \\t]{0,3}(?:=>|[=:]|%3[AD])\\s{0,3}|(?:\\\\{0,15}[\"'`]|%22)\\s{0,3},\\s{0,3}(?=(?:\\\\{0,15}[\"'`]|%22))))(?:((?:\\\\{0,15}[\"'`]|%22))(?!\\2)(?:[\\s\\S]{0,2000}?(?<!\\\\)\\2|[^\\r\\n]*)|(?!\\d{1,12}\\b)[^\\s\"'`&,;\\\\]{6,})", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("((?:passw(?:or)?d|passphrase|pwd)[=:] ?)(?!\\[)[^\\s\"'`&,;\\\\]+", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(<[\\w.:-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|signature|jwt)\\w{0,20}>)[^<\\n]+", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("(\\bsig=)[\\w%+/=-]{16,}", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("((?:^|\\s)--?(?:password|passphrase|secret|token|api-key|cookie)\\s+)(?:([\"'])[^\"'\\n]+\\2|[^\\s\"']+)", re.IGNORECASE), "\\g<1>[redacted]"),
    (re.compile("((?:^|\\s)(?:-u|--user|--proxy-user)[ =][\"']?[^\\s:\"']{1,100}:)[^\\s\"']+", 0), "\\g<1>[redacted]"),
]


def redact(text: str) -> str:
    """Replaces what looks like a secret in a reason. Others remain: it should contain none."""
    return _GONE.join(_redact_part(part) for part in text.split(_GONE))


def _redact_part(text: str) -> str:
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
