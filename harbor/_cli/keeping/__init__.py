"""Commands on memories, kept replies, packs, and the names that Harbor knows."""
