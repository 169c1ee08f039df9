"""Where in a JSON text that is refused something stands: `json` tells the place of what is no JSON alone.

The text is looked through once more, by its strings, brackets and numbers: as far as it is looked at, it was read.
"""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}\[\]]|\d[\d.eE+-]*', re.DOTALL)


def _told(text: str, position: int) -> str:
    """Return a position as a decoder's errors tell it."""
    line = text.count("\n", 0, position) + 1
    return f"line {line} column {position - text.rfind(chr(10), 0, position)}"


def of_second_key(text: str, ended: int, key: str) -> str:
    """Return where a key stands for the second time in one object.

    Parameters
    ----------
    text : str
    ended : int
        Which object it is, counted from 1 by their ends, in which order they are made.
    key : str
    """
    opened = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            opened.append(token.end())
        elif token[0] == "}":
            start = opened.pop()
            ended -= 1
            if not ended:
                break
    depth, places = 0, []
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if not depth and token[2] and json.loads(token[1]) == key:
            places.append(token.start())
        if len(places) > 1:
            break
    return _told(text, places[-1])


def of_deepest(text: str) -> str:
    """Return where lists and objects are deepest in each other."""
    depth, deepest, place = 0, 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth > deepest:
            deepest, place = depth, token.start()
    return _told(text, place)


def of_long_integer(text: str, digits: int) -> str:
    """Return where the first integer of more than so many digits stands."""
    numbers = (token for token in _TOKEN.finditer(text) if token[0].isdecimal() and len(token[0]) > digits)
    return _told(text, next(numbers).start())
