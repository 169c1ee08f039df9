"""The documentation as a site: `make docs` builds it into build/site, without a network."""

import gc
import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import dlsched

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "dlsched"
copyright = "The dlsched developers"
version = release = dlsched.__version__

# Trees of documents are of millions of objects: a look for garbage after each 700 new ones takes a seventh of all time.
gc.set_threshold(200_000)

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "mathml", "problem", "room"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["extensions"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# Notebooks are stored without what they print, and run here; a cell that fails ends the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# Kernels warn that they talk in plain text, though to this machine alone; a user's start-up files are none of ours.
ipython = TemporaryDirectory()
os.environ["IPYTHONDIR"] = ipython.name
kernel = Path(ipython.name) / "profile_default" / "ipython_kernel_config.py"
kernel.parent.mkdir()
kernel.write_text('get_config().IPKernelApp.log_level = "ERROR"\n', encoding="utf-8")
logging.getLogger("traitlets").setLevel("WARNING")
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
