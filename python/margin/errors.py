"""The exceptions of margin: one family, each with the core's message. Every one is also the built-in that fits best."""

from typing import Optional


class MarginError(Exception):
    """Everything that margin raises by itself. Where a server said so, ``status``, ``code`` and ``param`` are what it said."""

    status: Optional[int] = None  # of the HTTP response
    code: Optional[str] = None  # for programs
    param: Optional[str] = None  # the field that is meant


class InvalidArgument(MarginError, ValueError):
    """A value is outside what was expected; the message names the field, the value and what was expected."""


class WrongType(MarginError, TypeError):
    """A value is of a type, or a column of a dtype, that cannot hold what was expected."""


class NotFound(MarginError, LookupError):
    """A name or an id is unknown."""


class Conflict(MarginError):
    """It contradicts something already recorded."""


class LimitExceeded(MarginError):
    """It would exceed a bound on memory."""


class Corrupt(MarginError, ValueError):
    """Bytes that are not what they should be."""


class Unsupported(MarginError):
    """Known, but not to this version or not by this method."""


class Unavailable(MarginError):
    """Right to ask, but not to be had now; trying again may work."""


class NotAllowed(MarginError, PermissionError):
    """The server does not know the key, or the key may not do this."""
