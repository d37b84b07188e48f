"""The game keeps the promises of a game."""

from bundle_auction.game import BUNDLES

from harbor.testing import check_game


def test_it_keeps_the_promises_of_a_game():
    check_game(BUNDLES)
