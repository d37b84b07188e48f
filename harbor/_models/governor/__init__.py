"""The governor lets calls start within the given or learned limits of their provider and key."""
