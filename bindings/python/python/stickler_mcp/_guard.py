"""What the adapters share: a validator for each session, with the tools that its server lists.

A call that is valid by the last known list is admitted at once. Any other call is checked again with a list that was
fetched for it, so a changed list never causes a rejection, and help never names tools that the caller cannot see.
"""

from __future__ import annotations

import inspect
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from ._result import Admission
from ._validator import Validator

_log = logging.getLogger("stickler_mcp")

_MAX_SESSIONS = 1024

_TURN_KEY = "dev.stickler/turn_index"

ListTools = Callable[[], Awaitable[Any]]
"""Fetches the tools that the caller sees."""


class Guard:
    """Checks calls of many sessions. The settings are those of :class:`stickler_mcp.Validator`."""

    def __init__(self, **settings: Any) -> None:
        # Raises an exception for a bad setting now, not at the first call.
        Validator([], **settings)
        self._settings = settings
        self._sessions: OrderedDict[Hashable, Validator] = OrderedDict()

    def learn(self, session: Hashable, tools: Any) -> Validator:
        """Remember the tools of a session."""
        validator = self._sessions.get(session)
        if validator is None:
            validator = self._sessions[session] = Validator(tools, **self._settings)
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
            for problem in validator.problems:
                _log.warning("%s; its calls are not validated", problem)
        else:
            validator.set_tools(tools)
        return validator

    async def admit(
        self,
        session: Hashable,
        name: str,
        arguments: Any,
        list_tools: ListTools,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> Admission:
        """Decide on a call."""
        known = self._sessions.get(session)
        if known is not None:
            result = known.check(name, arguments)
            if result.valid and not result.errors:
                return Admission(True, result.arguments if arguments is not None else None)
        validator = self.learn(session, await list_tools())
        turn = (meta or {}).get(_TURN_KEY)
        admission = validator.admit(name, arguments, turn=turn if isinstance(turn, int) else None)
        _report(name, admission, observed=validator.mode == "observe")
        return admission

    async def admit_json(self, session: Hashable, name: str, text: str | None, list_tools: ListTools) -> Admission:
        """Decide on a call whose arguments are JSON text."""
        known = self._sessions.get(session)
        if known is not None and known.check_json(name, text).valid:
            return Admission(True)
        validator = self.learn(session, await list_tools())
        admission = validator.admit_json(name, text)
        _report(name, admission, observed=validator.mode == "observe")
        return admission

    async def enhance(
        self, session: Hashable, name: str, reply: Mapping[str, Any], list_tools: ListTools
    ) -> dict[str, Any] | None:
        """Extend the response of a tool if it is an error about arguments; ``None`` if it stays as it is."""
        validator = self._sessions.get(session) or self.learn(session, await list_tools())
        return validator.enhance_reply(name, reply)


def session_key(session: Any) -> str:
    """Return the id of a session of `mcp` 2.x; empty if it has none.

    A connection on stdio and requests of the stateless revision have none. They share one validator, which still answers
    with the tools that the caller sees, because a rejection is always based on a list that was fetched for it.
    """
    connection = getattr(session, "_connection", None)
    return getattr(connection, "session_id", None) or ""


def tool_source(tools: Any) -> ListTools:
    """Return a function that fetches tools from what a user passes: a list, or a function that fetches one."""

    async def fetch() -> Any:
        found = tools() if callable(tools) else tools
        return await found if inspect.isawaitable(found) else found

    return fetch


def _report(name: str, admission: Admission, *, observed: bool) -> None:
    problems = "; ".join(admission.problems)
    if not admission.admitted:
        _log.warning("call of `%s` rejected: %s", name, problems)
    elif admission.edits:
        _log.info("call of `%s` repaired: %s", name, admission.edits)
    elif problems:
        verb = "would be rejected" if observed else "accepted"
        _log.warning("call of `%s` %s: %s", name, verb, problems)
