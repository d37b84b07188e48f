"""How far the words of a listing alone tell whom it suits: a leak, if judging was to be studied."""

from __future__ import annotations

from collections.abc import Mapping

from harbor.personas._catalog.catalogue import Catalogue

WORD = r"(?u)\b[^\W\d_]{2,}\b"


def nearest_in_words(catalogue: Catalogue) -> Mapping[str, str]:
    """Name for each item the persona whose text shares most words with its listing; nothing is learned from labels.

    It is the greatest cosine between TF-IDF vectors of single words, without the usual stop words, weighted over all
    texts of the catalogue. An item whose listing shares no word with any persona is left out.

    Returns:
        The ids of personas by the ids of items.
    """
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    told = {key: item.listing for key, item in catalogue.items.items() if item.listing}
    ids, texts = list(catalogue.personas), [one.text for one in catalogue.personas.values()]
    counts = HashingVectorizer(stop_words="english", token_pattern=WORD, alternate_sign=False, norm=None)
    vectors = TfidfTransformer().fit_transform(counts.transform([*texts, *told.values()]))
    likeness = (vectors[len(ids) :] @ vectors[: len(ids)].T).toarray()
    return {key: ids[int(row.argmax())] for key, row in zip(told, likeness, strict=True) if row.any()}


def named_by_words(catalogue: Catalogue) -> tuple[int, int]:
    """Count the items whose words alone name somebody whom they suit, and all items that suit anybody."""
    nearest = nearest_in_words(catalogue)
    judged = [nearest.get(key) in item.suits for key, item in catalogue.items.items() if item.suits]
    return sum(judged), len(judged)
