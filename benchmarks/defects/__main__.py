"""``python -m benchmarks.defects``: the suite of defects, or a part of it."""

from .run import main

if __name__ == "__main__":
    main()
