"""Extensions of packages: their values, and how names find them."""
