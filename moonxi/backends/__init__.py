"""The backends: tensor classes that hold numbers. They never import each other."""
