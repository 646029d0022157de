"""Compares the time of checking a valid call of 400 bytes with that of pure-Python `jsonschema` and of `pydantic`.

Run: python bench/check.py   (with stickler-mcp, jsonschema and pydantic installed)

All candidates run in turn, several rounds, in one process; the best round of each counts. Processor time is measured,
which depends less on the load of the machine. The figures are ratios within this run.
"""

import json
import time
from pathlib import Path
from typing import Annotated, Literal

import jsonschema
from pydantic import BaseModel, ConfigDict, Field

from stickler_mcp import Validator

CALL = json.loads((Path(__file__).resolve().parents[2] / "bench_call.json").read_text(encoding="utf-8"))
TOOL, ARGUMENTS = CALL["tool"], CALL["arguments"]
TEXT = json.dumps(ARGUMENTS, separators=(",", ":"))
ROUNDS, SECONDS = 15, 0.05


class Sort(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    field: str
    descending: bool | None = None


class Call(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    customer_id: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]{6}$")]
    status: Literal["open", "paid", "shipped", "cancelled"]
    created_after: Annotated[str, Field(min_length=10)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None
    include_items: bool | None = None
    sort: Sort | None = None
    tags: Annotated[list[str], Field(max_length=10)] | None = None
    note: Annotated[str, Field(max_length=500)] | None = None


def candidates() -> dict:
    validator = Validator([TOOL])
    reference = jsonschema.Draft202012Validator(TOOL["inputSchema"])
    assert validator.check("search_orders", ARGUMENTS).valid
    assert reference.is_valid(ARGUMENTS)
    return {
        "jsonschema, object": lambda: reference.validate(ARGUMENTS),
        "stickler, object": lambda: validator.check("search_orders", ARGUMENTS),
        "pydantic, object": lambda: Call.model_validate(ARGUMENTS),
        "jsonschema, text": lambda: reference.validate(json.loads(TEXT)),
        "stickler, text": lambda: validator.check_json("search_orders", TEXT),
        "pydantic, text": lambda: Call.model_validate_json(TEXT),
    }


def measure(run) -> float:
    count, start = 0, time.process_time()
    while (elapsed := time.process_time() - start) < SECONDS:
        for _ in range(20):
            run()
        count += 20
    return elapsed / count


def main() -> None:
    runs = candidates()
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            best[name] = min(best[name], measure(run))
    print(f"a valid call of {len(TEXT)} bytes")
    for name, seconds in best.items():
        base = best["jsonschema, " + name.split(", ")[1]]
        print(f"{name:20} {seconds * 1e6:8.2f} µs   {base / seconds:6.1f} × as fast as jsonschema")


if __name__ == "__main__":
    main()
