"""Conformance suites that any author can run; they raise AssertionError with a sentence."""

from __future__ import annotations

from harbor.testing._rules import check_rules as check_rules
from harbor.testing._stores import check_store as check_store
