"""Conformance suites that any author can run; they raise AssertionError with a sentence."""

from __future__ import annotations

from harbor.conformance.rules import check_rules as check_rules
from harbor.conformance.stores import check_store as check_store
