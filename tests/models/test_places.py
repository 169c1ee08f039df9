"""Where in a JSON text that is refused the fault stands."""

from __future__ import annotations

import pytest

from dlsched.models import InputError
from dlsched.models.document import parse_json


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": {}, "b": [{}],\n  "a": 1}', "line 2 column 3: key 'a' appears twice in one object"),
        (
            '{"a": "b", "x": [{"b": {"b": "b"}},\n {"b" :1, "c": {"b": 2}, "\\u0062": 3}]}',
            "line 2 column 26: key 'b' appears twice in one object",
        ),
        ('{"{\\"": 1,\n"}": [1, {"}": 2}], "}": 3}', "line 2 column 21: key '}' appears twice in one object"),
        ("[1, [2],\n" + "[\n" * 10**5, "line 100001 column 1: nested too deeply"),
        (
            '{"x": "' + "1" * 5000 + '", "y": 1.' + "3" * 5000 + ',\n "z": -' + "1" * 5000 + "}",
            "line 2 column 8: has an integer of more than 4300 digits",
        ),
    ],
)
def test_the_place_is_told(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_json("f.json", text.encode())
    assert str(refused.value) == f"f.json: {message}"
