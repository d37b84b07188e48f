"""The site of these pages: `make docs` writes it to build/docs/html. Nothing is fetched when it is read.

The source folder is the root of the checkout, so that a link between pages is the same here and in the repository.
"""

from __future__ import annotations

from harbor._core.faces import __version__

project = "Harbor"
author = "The Harbor contributors"
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = __version__

root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md"]
exclude_patterns = [".*", "build", "dist", "node_modules", "runs", "tests", "examples", "*.egg-info", "README.md"]
extensions = ["myst_parser"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = "Harbor"
smartquotes = False  # what is quoted is often typed
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_extra_path = ["_front"]
html_copy_source = False
html_show_search_summary = False  # it would fetch each page that is found, which browsers refuse for files
html_show_sphinx = False
