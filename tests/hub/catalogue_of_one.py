"""A catalogue of one model, which a hub of the tests has."""

from __future__ import annotations

import hashlib

MODEL = """[[model]]
name = "Starter"
kind = "chat"
purpose = "To try everything."
languages = ["en"]
license = "apache-2.0"
parameters = 134515008
context = 8192
repository = "org/tiny-GGUF"
revision = "{revision}"
file = "{name}"
quantisation = "Q4_1"
size = {size}
sha256 = "{sha256}"
"""


def catalogue_of(name: str, content: bytes) -> str:
    """Return the text of a catalogue with the model of these bytes, under the name “Starter”."""
    digest = hashlib.sha256(content).hexdigest()
    return MODEL.format(revision="0" * 40, name=name, size=len(content), sha256=digest)
