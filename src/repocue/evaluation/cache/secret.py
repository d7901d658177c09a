"""The provider's key, held so that it is hard to print by accident."""

from __future__ import annotations

import re
from typing import Final, NoReturn

_SENDABLE: Final = re.compile(r"[\x21-\x7e]{1,512}\Z")


class Secret:
    """A key. Neither `repr`, `str`, pickling nor a traceback's arguments show it; `reveal` is the one way out."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        """The key itself, for the one header that carries it and for looking whether a response repeats it."""
        return self.__value

    @property
    def is_sendable(self) -> bool:
        """Whether it can stand in a header: 1 to 512 visible ASCII characters, no white space."""
        return _SENDABLE.match(self.__value) is not None

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled")
