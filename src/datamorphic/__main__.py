"""The command ``python -m datamorphic``."""

from .cli.main import main

if __name__ == "__main__":
    main()
