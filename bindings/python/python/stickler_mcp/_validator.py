"""The validator of calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from . import _native
from ._result import Admission, Error, Finding, Result

Mode = Literal["enforce", "assist", "observe"]


class Validator:
    """Validates calls to the tools of one server.

    ``tools`` is a list of tool definitions as in the result of ``tools/list`` (dictionaries, or models of an SDK), such a
    result, or its JSON text. A tool whose schema cannot be used is listed in :attr:`problems`, and its calls are
    accepted.

    The settings have the names, values and defaults of the gateway's configuration. ``mode`` sets the defaults of the
    others: ``enforce`` rejects bad calls, ``assist`` repairs what is beyond doubt and rejects an unlisted field only if it
    is probably a mistake, ``observe`` rejects nothing in adapters.

    A setting or a tool list that cannot be used raises :class:`ValueError`. Nothing that a caller of a tool can send
    does.

    >>> validator = Validator([{"name": "add", "inputSchema": {"type": "object", "properties": {
    ...     "a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}], mode="assist")
    >>> validator.check("add", {"a": "1", "b": 2}).arguments
    {'a': 1, 'b': 2}
    >>> validator.check("add", {"a": 1}).errors[0]["kind"]
    'missing_required'
    >>> validator.check("ad", {"a": 1, "b": 2}).corrected
    {'name': 'add', 'arguments': {'a': 1, 'b': 2}}
    """

    __slots__ = ("_check", "_native")

    def __init__(
        self,
        tools: Any,
        *,
        mode: Mode | None = None,
        unknown_fields: Literal["reject", "reject-mistakes", "follow-schema"] | None = None,
        formats: Literal["lenient", "strict", "ignore"] | None = None,
        repair: Literal["off", "suggest", "apply"] | None = None,
        help: Literal["brief", "full"] | None = None,
        help_token_budget: int | None = None,
        suggestion_distance: int | None = None,
        mask: bool | None = None,
        injected_keys: Iterable[str] | None = None,
        documentation_url: str | None = None,
        pre_validate: bool | None = None,
        enhance_errors: bool | None = None,
        answer: Literal["tool-result", "json-rpc-error", "observation"] | None = None,
        retry_limit: int | None = None,
        server: str | None = None,
    ) -> None:
        settings = {
            "mode": mode,
            "unknown_fields": unknown_fields,
            "formats": formats,
            "repair": repair,
            "help": help,
            "help_token_budget": help_token_budget,
            "suggestion_distance": suggestion_distance,
            "mask": mask,
            "injected_keys": None if injected_keys is None else list(injected_keys),
            "documentation_url": documentation_url,
            "pre_validate": pre_validate,
            "enhance_errors": enhance_errors,
            "answer": answer,
            "retry_limit": retry_limit,
            "server": server,
        }
        config = json.dumps({name: value for name, value in settings.items() if value is not None})
        self._native = _native.NativeValidator(_tool_list(tools), config)
        self._check = self._native.check

    def check(self, name: str, arguments: Any = None) -> Result:
        """Check a call. ``None`` as arguments is equivalent to ``{}``.

        ``arguments`` is what a JSON parser produces. A string is a JSON string, not the text of the arguments; see
        :meth:`check_json` for those.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}}}])
        >>> result = validator.check("stat", {"file": {1, 2}})
        >>> result.valid, result.errors[0]["message"]
        (False, 'The arguments cannot be written as JSON: Object of type set is not JSON serializable.')
        """
        record = self._check(name, arguments)
        if record is None:
            return Result(True, {} if arguments is None else arguments)
        return _result(record, arguments)

    def check_json(self, name: str, text: str | None) -> Result:
        """Check a call whose arguments are JSON text, as models produce it.

        A text that is not JSON is a bad call like any other; fenced or single-quoted JSON is recognised.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}}}])
        >>> validator.check_json("stat", '{"path": "a"}').arguments
        {'path': 'a'}
        >>> validator.check_json("stat", "{'path': 'a'}").corrected
        {'name': 'stat', 'arguments': {'path': 'a'}}
        """
        record = self._native.check_json(name, text)
        given = json.loads(text) if text is not None and (record is None or '"invalid_json"' not in record) else {}
        return Result(True, given) if record is None else _result(record, given)

    def admit(self, name: str, arguments: Any = None, *, turn: int | None = None) -> Admission:
        """Decide on a call for an adapter, with the answer to send if the call is rejected.

        Rejections are counted: an identical call gets another answer each time. In the mode ``observe`` every call is
        admitted. ``turn`` is the number of the turn for a retry observation.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}, "required": ["path"]}}])
        >>> admission = validator.admit("stat", {})
        >>> admission.admitted, admission.answer["result"]["isError"]
        (False, True)
        """
        return _admission(self._native.admit_json(name, _text(arguments), turn), arguments)

    def admit_json(self, name: str, text: str | None, *, turn: int | None = None) -> Admission:
        """Like :meth:`admit`, for arguments that are JSON text."""
        record = self._native.admit_json(name, text, turn)
        try:
            given = None if text is None else json.loads(text)
        except ValueError:
            given = text
        return _admission(record, given)

    def help_prompt(self, name: str, arguments: Any = None) -> str | None:
        """Return the help prompt of a bad call; ``None`` if the call is valid.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}}}])
        >>> print(validator.help_prompt("stat", {"pth": "a"}).splitlines()[0])
        Tool call failed for: stat
        """
        return self._native.help_prompt_json(name, _text(arguments))

    def retry_observation(self, name: str, arguments: Any = None, turn_index: int = 0) -> dict[str, Any] | None:
        """Return the observation with which an agent loop asks the model to retry; ``None`` if the call is valid.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}}}])
        >>> observation = validator.retry_observation("stat", {"pth": "a"}, turn_index=3)
        >>> observation["turn_index"], observation["payload"]["observation"]["status"]
        (3, 'VALIDATION_FAILED')
        """
        text = self._native.retry_observation_json(name, _text(arguments), turn_index)
        return None if text is None else cast("dict[str, Any]", json.loads(text))

    def enhance_error(self, name: str, text: str) -> str:
        """Return the text of a server's error, with help from the schema if it is about the arguments.

        >>> validator = Validator([{"name": "stat", "inputSchema": {"type": "object", "properties": {
        ...     "path": {"type": "string"}}, "required": ["path"]}}])
        >>> print(validator.enhance_error("stat", "missing field `path`").splitlines()[2])
        Required: [path]
        >>> validator.enhance_error("stat", "disk full")
        'disk full'
        """
        addition = self._native.enhance_error(name, text)
        return text if addition is None else f"{text}\n\n{addition}"

    def enhance_reply(self, name: str, reply: Mapping[str, Any]) -> dict[str, Any] | None:
        """Extend a response to a call, ``{"result": …}`` or ``{"error": …}``; ``None`` if it stays as it is.

        A result with ``isError`` gets one more content block, an error a longer message. Extended responses are
        marked and not extended again.
        """
        text = self._native.enhance_reply_json(name, json.dumps(reply, ensure_ascii=False))
        return None if text is None else cast("dict[str, Any]", json.loads(text))

    def check_output(self, name: str, structured: Any = None) -> list[Error]:
        """Check the structured content of a result against the tool's ``outputSchema``; ``None`` means there is none."""
        text = None if structured is None else json.dumps(structured, ensure_ascii=False)
        return cast("list[Error]", json.loads(self._native.check_output_json(name, text)))

    def set_tools(self, tools: Any) -> None:
        """Replace the tool list."""
        self._native.set_tools(_tool_list(tools))

    @property
    def problems(self) -> list[str]:
        """Why tools cannot be checked, one sentence for each."""
        return cast("list[str]", json.loads(self._native.problems()))

    @property
    def mode(self) -> Mode:
        """The mode."""
        return cast("Mode", self._native.mode())


def lint(tools: Any, *, revision: str | None = None) -> list[Finding]:
    """Lint tool definitions: mistakes, omissions, and problems for clients and models.

    ``revision`` is the revision of MCP that the server speaks, such as ``2025-11-25``.

    >>> lint([{"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "strng"}}}}])[0]["rule"]
    'no-description'
    """
    return cast("list[Finding]", json.loads(_native.lint(_tool_list(tools), revision)))


def _result(record: str, arguments: Any) -> Result:
    data = json.loads(record)
    valid = data["valid"]
    return Result(
        valid,
        data.get("arguments", arguments if valid else None),
        data["errors"],
        data["help"],
        data["corrected"],
        data["edits"],
        data.get("unchecked"),
    )


def _admission(text: str | None, arguments: Any) -> Admission:
    if text is None:
        return Admission(True, arguments)
    record = json.loads(text)
    given = arguments if record["admitted"] else None
    return Admission(
        record["admitted"],
        record.get("arguments", given),
        record.get("answer"),
        record["problems"],
        record.get("edits", ""),
    )


def _text(arguments: Any) -> str | None:
    """Return the JSON text of arguments. What cannot be written is passed on as text that is not JSON."""
    if arguments is None:
        return None
    try:
        return _native.to_json(arguments)
    except ValueError as error:
        return f"cannot be written as JSON ({error})"


def _tool_list(tools: Any) -> str:
    if isinstance(tools, str):
        return tools
    if hasattr(tools, "model_dump"):
        tools = _definition(tools)
    elif not isinstance(tools, Mapping):
        tools = [_definition(tool) for tool in tools]
    return json.dumps(tools, ensure_ascii=False)


def _definition(tool: Any) -> Any:
    """Return a tool of an SDK as a dictionary."""
    dump = getattr(tool, "model_dump", None)
    return tool if dump is None else dump(by_alias=True, exclude_none=True, mode="json")
