"""Extensions that packages bring: their kinds, and how Harbor finds one by its name or reference."""
