"""Commands on memories, kept replies, packs, and on what Harbor can name."""
