"""``python -m moonxi``."""

import sys

from moonxi.cli import main

sys.exit(main())
