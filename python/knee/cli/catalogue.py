"""`knee list` and `knee show`, out of the registry of laws."""

from __future__ import annotations
