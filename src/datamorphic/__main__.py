"""``python -m datamorphic``: the command, where it is not on the path."""

from .cli.main import main

if __name__ == "__main__":
    main()
