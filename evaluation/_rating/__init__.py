"""Rating the reasoning of bidders, by people or judge models: transcripts, blinded sheets, merging, agreement."""
