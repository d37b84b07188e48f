// The calls of models as a table that sorts, and what differs between one text and the next.
