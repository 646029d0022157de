"""Skips the tests of an adapter whose package is not installed: packages that conflict have environments of their own.

`STICKLER_TEST_ADAPTERS` names the test files of adapters, separated by commas, that must not be skipped.
"""

import importlib.util
import os

# LiteLLM downloads a price list when it is imported unless this is set.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

REQUIRED = {
    "test_fastmcp.py": ["fastmcp"],
    "test_mcp_v2.py": ["mcp_types"],
    "test_mcp_v1.py": ["mcp.server.fastmcp.server"],
    "test_langchain.py": ["langchain_mcp_adapters"],
    "test_openai_agents.py": ["agents"],
    "test_litellm.py": ["litellm"],
    "test_contextforge.py": ["cpex"],
}


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


collect_ignore = [file for file, modules in REQUIRED.items() if not all(map(is_installed, modules))]

skipped = set(filter(None, os.environ.get("STICKLER_TEST_ADAPTERS", "").split(","))) - (REQUIRED.keys() - collect_ignore)
if skipped:
    raise RuntimeError(f"cannot test {', '.join(sorted(skipped))}: the package of the adapter is not installed")
