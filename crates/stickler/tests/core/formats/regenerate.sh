#!/bin/sh
# Writes libraries.json: which of the values in values.json pydantic, zod and ajv-formats accept.
# Needs python3 and npm; installs the libraries into a temporary folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet 'pydantic[email]'
npm install --silent zod ajv ajv-formats
venv/bin/python "$here/pydantic_accepts.py" > pydantic.json
node "$here/javascript_accepts.mjs" > javascript.json
python3 - > "$here/libraries.json" <<'PYTHON'
import json
libraries = {"pydantic": json.load(open("pydantic.json")), **json.load(open("javascript.json"))}
print(json.dumps(libraries, indent=1, ensure_ascii=False))
PYTHON
