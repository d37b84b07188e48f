"""Rating how well bidders think, by people or judge models: transcripts, blinded sheets, merging, agreement."""
