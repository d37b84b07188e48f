"""Files and folders: private, synced, marked as one's own, or sent by somebody."""
