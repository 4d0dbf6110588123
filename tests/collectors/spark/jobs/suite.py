"""Cases of the suite: suite.py FOLDER [CASE…]."""

import sys
from pathlib import Path

from tests.collectors.spark.suite.run import main

main(Path(sys.argv[1]), *sys.argv[2:])
