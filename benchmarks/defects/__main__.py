"""``python -m benchmarks.defects``: the suite of defects, or a part of it."""

import os

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when scikit-learn is imported: threads of busy machines wait
    from .run import main

    main()
