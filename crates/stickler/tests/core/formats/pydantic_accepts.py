"""Prints, as JSON, which of the values in values.json pydantic accepts per format."""

import datetime
import ipaddress
import json
import pathlib
import sys
import uuid

import pydantic

TYPES = {
    "date-time": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
    "uri": pydantic.AnyUrl,
    "url": pydantic.AnyUrl,
    "email": pydantic.EmailStr,
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "duration": datetime.timedelta,
}


def accepts(adapter, value):
    try:
        adapter.validate_json(json.dumps(value))
        return True
    except pydantic.ValidationError:
        return False


formats = json.loads((pathlib.Path(__file__).parent / "values.json").read_text())
accepted = {}
for name, values in formats.items():
    if name in TYPES:
        adapter = pydantic.TypeAdapter(TYPES[name])
        texts = values["accepted"] + values["rejected"]
        accepted[name] = [text for text in texts if accepts(adapter, text)]
json.dump({"version": pydantic.VERSION, "accepted": accepted}, sys.stdout)
