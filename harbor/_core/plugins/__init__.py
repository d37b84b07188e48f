"""Extensions of packages: what they bring, and how names find them."""
