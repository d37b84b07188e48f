"""What runs inside of the processes that the lab stops: it notes what they do, and does nothing else to them."""
