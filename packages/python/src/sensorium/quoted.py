"""Quoting what others chose, for models."""

from __future__ import annotations

import re
import unicodedata

from ._budget import MODEL_CHARACTERS

_KEPT = "\n\t\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Zl", "Zp"}


def quote_as_data(text: str) -> str:
    """
    Quotes a text that others chose as a fenced block of Markdown that it cannot end, for a model whose instructions
    say that such is data. Characters that hide or reorder text are replaced.
    """
    shown = "".join(map(_visible, re.sub("\r\n?", "\n", text)))
    fence = "`" * (1 + max(2, *map(len, re.findall("`+", shown)), 2))
    return f"{fence}text\n{shown}\n{fence}"


def quote_excerpt(text: str, whole: str) -> str:
    """
    Quotes a text as data: of one that is too long for a model the beginning, with its size and ``whole``, what to do to
    read all of it.
    """
    quoted = quote_as_data(text[:MODEL_CHARACTERS])
    if len(text) <= MODEL_CHARACTERS:
        return quoted
    size = f"of {len(text):,} characters, {MODEL_CHARACTERS:,} are above"
    return f"{quoted}\n\nThis is only its beginning: {size}. To read all of it, {whole}."


def _visible(char: str) -> str:
    is_hidden = unicodedata.category(char) in _HIDDEN or "\U000e0100" <= char <= "\U000e01ef"
    return "\ufffd" if is_hidden and char not in _KEPT else char
