"""Files and folders: safe reading and writing, the layout of Harbor's folders, and marks of the user's own."""
