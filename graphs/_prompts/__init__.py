"""The words a bidder's model is asked with; one file a prompt."""
