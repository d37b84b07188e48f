"""The conformance suite for LangGraph stores: call it in a test of a store that you write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)

MakeStore = Callable[[], BaseStore]
HERE = ("ann", "learnings")
VALUES: dict[str, dict[str, Any]] = {
    "empty": {},
    "unicode": {"text": "Ünïcode: 家 🏠 \u2028 \x00 end", "ключ": "значение"},
    "numbers": {
        "text": "numbers",
        "int": 2**70,
        "float": 0.1,
        "tiny": 5e-324,
        "negative": -0.0,
        "yes": True,
        "no": False,
    },
    "nested": {"text": "nested", "none": None, "list": [1, [2, {"deep": [None, ""]}], {}], "dict": {"a": {"b.c": []}}},
}
"""Values that a store must return unchanged."""


def check_store(make_store: MakeStore) -> None:
    """Check that a LangGraph store behaves as LangGraph documents it.

    `make_store` has to return a new and empty store at each call. That store has to index the field `text` of its
    memories, with any embedding for which each text is nearest to itself. The time to live of memories is checked only
    if the store's `supports_ttl` is true. Call this function outside of an event loop.

    Raises:
        AssertionError: the store behaves otherwise; the message says how.
    """
    for check in CHECKS:
        store = make_store()
        try:
            check(store)
        finally:
            getattr(store, "close", lambda: None)()


def demand(fact: object, sentence: str) -> None:
    """Raise AssertionError with this sentence unless the fact is true."""
    if not fact:
        raise AssertionError(sentence)


def _values_come_back_as_they_were(store: BaseStore) -> None:
    for key, value in VALUES.items():
        store.put(HERE, key, value)
    for key, value in VALUES.items():
        item = store.get(HERE, key)
        demand(item is not None, f"what was put under {key!r} is not there")
        demand(item and repr(item.value) == repr(value), f"{value!r} came back as {item and item.value!r}")
        demand(item and (item.namespace, item.key) == (HERE, key), f"the item of {key!r} is called something else")


def _put_replaces_the_whole_value(store: BaseStore) -> None:
    store.put(HERE, "a", {"text": "first", "old": 1})
    before = store.get(HERE, "a")
    store.put(HERE, "a", {"text": "second"})
    after = store.get(HERE, "a")
    demand(after and after.value == {"text": "second"}, "a put merges with the value that was there")
    demand(not store.search(HERE, filter={"old": 1}), "a filter still finds a field that a put has replaced")
    demand(before and after and after.updated_at > before.updated_at, "updated_at does not move on with a put")
    demand(after and after.created_at <= after.updated_at, "created_at lies behind updated_at")


def _delete_takes_away(store: BaseStore) -> None:
    store.put(HERE, "a", {"text": "one"})
    store.delete(HERE, "a")
    store.delete(HERE, "never there")
    demand(store.get(HERE, "a") is None, "a deleted item is still there")
    demand(not store.search(HERE), "a search finds a deleted item")
    demand(not store.search(HERE, query="one"), "a search by meaning finds a deleted item")


def _batch_answers_in_order(store: BaseStore) -> None:
    store.put(HERE, "a", {"text": "old"})
    put = [PutOp(HERE, "a", {"text": "new"}), PutOp(HERE, "a", {"text": "newest"}), PutOp(HERE, "b", {"text": "b"})]
    read: list[Op] = [GetOp(HERE, "a"), SearchOp(HERE), ListNamespacesOp(None, None), GetOp(HERE, "none")]
    results: list[Any] = store.batch([*read, *put])
    demand(len(results) == len(read) + len(put), "a batch has not one result an operation")
    demand(results[0].value == {"text": "old"}, "a batch does not read entries from before it")
    demand([item.key for item in results[1]] == ["a"], "a search in a batch does not read entries from before it")
    demand(results[2:] == [[HERE], None, None, None, None], "results of a batch are not in the order of its operations")
    newest = store.get(HERE, "a")
    demand(newest and newest.value == {"text": "newest"}, "the last put to a key in a batch does not win")
    store.batch([PutOp(HERE, "b", {"text": "again"}), PutOp(HERE, "b", None)])
    demand(store.get(HERE, "b") is None, "a delete after a put in one batch does not win")


def _abatch_does_as_batch(store: BaseStore) -> None:
    async def both() -> None:
        await asyncio.gather(*(store.aput(HERE, str(number), {"text": f"text {number}"}) for number in range(20)))
        found = await store.asearch(HERE, limit=50)
        demand({item.key for item in found} == {str(number) for number in range(20)}, "puts at the same time are lost")
        results: list[Any] = await store.abatch([GetOp(HERE, "3"), PutOp(HERE, "3", None)])
        demand(results[0].value == {"text": "text 3"} and results[1] is None, "abatch answers otherwise than batch")
        demand(await store.aget(HERE, "3") is None, "a delete through abatch does not take away")

    asyncio.run(both())


def _filters_find_what_fits(store: BaseStore) -> None:
    for number in range(5):
        store.put(
            HERE,
            str(number),
            {"text": f"t{number}", "price": number, "of": {"kind": "even" if number % 2 == 0 else "odd"}},
        )
    cases: list[tuple[dict[str, Any], str]] = [
        ({"price": 3}, "3"),
        ({"price": {"$eq": 3}}, "3"),
        ({"price": {"$ne": 3}}, "0124"),
        ({"price": {"$gt": 3}}, "4"),
        ({"price": {"$gte": 3}}, "34"),
        ({"price": {"$lt": 1}}, "0"),
        ({"price": {"$lte": 1}}, "01"),
        ({"price": {"$gt": 0, "$lt": 4}}, "123"),
        ({"of": {"kind": "odd"}}, "13"),
        ({"of": {"kind": {"$ne": "odd"}}, "price": {"$gt": 0}}, "24"),
        ({"missing": 1}, ""),
    ]
    for wanted, keys in cases:
        for query in (None, "t1"):
            found = sorted(item.key for item in store.search(HERE, filter=wanted, query=query))
            demand(found == list(keys), f"the filter {wanted} with query {query!r} finds {found}, not {list(keys)}")


def _search_pages_through_everything_once(store: BaseStore) -> None:
    for number in range(7):
        store.put(HERE, str(number), {"text": f"text number {number}"})
    for query in (None, "text number 3"):
        pages = [store.search(HERE, query=query, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        demand([len(page) for page in pages] == [3, 3, 1, 0], f"limit and offset are not kept with query {query!r}")
        demand(len({item.key for page in pages for item in page}) == 7, "pages of a search overlap")


def _search_ranks_by_meaning(store: BaseStore) -> None:
    texts = {"a": "the garden and the trees", "b": "a short way to the office", "c": "an old slate roof"}
    store.batch([PutOp(HERE, key, {"text": text}) for key, text in texts.items()])
    for key, text in texts.items():
        found: list[SearchItem] = store.search(HERE, query=text)
        scores = [item.score for item in found if item.score is not None]
        demand(found and found[0].key == key, f"{text!r} is not nearest to itself")
        demand(scores == sorted(scores, reverse=True) and len(scores) == 3, "a search is not ordered by its scores")
    demand(all(item.score is None for item in store.search(HERE)), "a search without a query has scores")
    store.put(HERE, "a", {"text": "the harbour at night"})
    found = store.search(HERE, query="the harbour at night", limit=1)
    demand(found and found[0].key == "a" and (found[0].score or 0) > 0.99, "a put does not index the new text")


def _index_is_honoured(store: BaseStore) -> None:
    store.put(HERE, "hidden", {"text": "the garden"}, index=False)
    store.put(
        HERE,
        "elsewhere",
        {"text": "something else", "notes": [{"of": "a boat"}, {"of": "a mooring"}]},
        index=["notes[*].of"],
    )
    store.put(HERE, "plain", {"text": "a lighthouse"})
    scored = [item.key for item in store.search(HERE, query="the garden") if item.score is not None]
    demand("hidden" not in scored, "an entry put with index=False is ranked")
    demand(len(store.search(HERE)) == 3, "an entry put with index=False is not found without a query")
    for text in ("a boat", "a mooring"):
        found = store.search(HERE, query=text)
        demand(found[0].key == "elsewhere" and (found[0].score or 0) > 0.99, f"the field of {text!r} is not indexed")
        demand(len({item.key for item in found}) == len(found), "an item with two indexed texts is found twice")


def _namespaces_are_apart(store: BaseStore) -> None:
    names = [HERE, ("ann", "episodes"), ("anna", "learnings"), ("ben", "learnings", "old")]
    for name in names:
        store.put(name, "same", {"text": "/".join(name)})
    for name in names:
        item = store.get(name, "same")
        demand(item and item.value["text"] == "/".join(name), f"{name} shares a key with another namespace")
    for query in (None, "ben/learnings/old"):
        found = {item.namespace for item in store.search(("ann",), query=query)}
        demand(found == set(names[:2]), f"a search in ('ann',) finds {found}")
    store.delete(names[0], "same")
    demand(store.get(names[1], "same"), "a delete reaches into another namespace")


def _namespaces_are_listed(store: BaseStore) -> None:
    names: list[tuple[str, ...]] = [("a", "x", "1"), ("a", "y", "1"), ("b", "x", "2")]
    for name in names:
        store.put(name, "k", {"text": "t"})
    cases: list[tuple[dict[str, Any], list[tuple[str, ...]]]] = [
        ({}, names),
        ({"prefix": ("a",)}, names[:2]),
        ({"suffix": ("1",)}, names[:2]),
        ({"prefix": ("*", "x")}, [names[0], names[2]]),
        ({"prefix": ("a",), "suffix": ("x", "*")}, names[:1]),
        ({"max_depth": 1}, [("a",), ("b",)]),
        ({"limit": 1, "offset": 1}, names[1:2]),
        ({"prefix": ("a", "x", "1", "deeper")}, []),
    ]
    for asked, expected in cases:
        listed = store.list_namespaces(**asked)
        demand(listed == expected, f"list_namespaces({asked}) answers {listed}, not {expected}")


def _bad_namespaces_are_refused(store: BaseStore) -> None:
    for name in ((), ("a.b",), ("a", ""), ("langgraph", "x")):
        try:
            store.put(name, "k", {"text": "t"})
        except InvalidNamespaceError:
            continue
        raise AssertionError(f"the namespace {name} is not refused")
    demand(not store.list_namespaces(), "a refused put leaves something behind")


def _time_to_live_is_kept(store: BaseStore) -> None:
    if not store.supports_ttl:
        return
    store.put(HERE, "gone", {"text": "gone"}, ttl=-1)
    store.put(HERE, "stays", {"text": "stays"}, ttl=60)
    store.put(HERE, "for ever", {"text": "for ever"})
    demand(store.get(HERE, "gone") is None, "an expired item is still handed out")
    for query in (None, "gone"):
        found = {item.key for item in store.search(HERE, query=query)}
        demand(found == {"stays", "for ever"}, f"with time to live, a search with query {query!r} finds {found}")


CHECKS: tuple[Callable[[BaseStore], None], ...] = (
    _values_come_back_as_they_were,
    _put_replaces_the_whole_value,
    _delete_takes_away,
    _batch_answers_in_order,
    _abatch_does_as_batch,
    _filters_find_what_fits,
    _search_pages_through_everything_once,
    _search_ranks_by_meaning,
    _index_is_honoured,
    _namespaces_are_apart,
    _namespaces_are_listed,
    _bad_namespaces_are_refused,
    _time_to_live_is_kept,
)
