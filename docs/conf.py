"""The documentation as a site: `make docs` builds it into build/site, without a network."""

import sys
from pathlib import Path

import dlsched

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "dlsched"
copyright = "The dlsched developers"
version = release = dlsched.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "mathml", "problem", "room"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["extensions"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# Tests execute the notebooks, and keep what they print as it is.
nb_execution_mode = "off"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
# Types in docstrings are prose; a word in one may be the name of several things.
suppress_warnings = ["ref.python"]
napoleon_google_docstring = False
napoleon_use_ivar = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"dlsched {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages are read without a server too.
html_theme_options = {"source_edit_link": "", "source_view_link": ""}
