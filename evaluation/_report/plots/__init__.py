"""Harbor's own figures."""
