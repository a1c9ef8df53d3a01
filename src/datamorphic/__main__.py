"""``python -m datamorphic``: the command, where it is not on the path."""

from .faces.cli import main

if __name__ == "__main__":
    main()
