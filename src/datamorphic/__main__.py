"""The command ``datamorphic``, also as ``python -m datamorphic``."""

import sys

try:
    from .cli.main import main
except KeyboardInterrupt:  # while the program is loaded, which takes a while on a busy machine
    sys.exit(130)

if __name__ == "__main__":
    main()
