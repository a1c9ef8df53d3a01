"""Images: border pairs a second of a digits classifier, relations a second, and the size of the page."""

from __future__ import annotations

import time

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import datamorphic as dm

PAIRS = 500
WALKS = 700
TRAINING_ROWS = 1_000


def main():
    """Print the time of 500 border pairs, of the relations and of the page."""
    digits = load_digits()
    flat, labels, images = digits.data, digits.target, digits.images[TRAINING_ROWS:]
    models = {
        "SVC": SVC(gamma=0.001),
        "random forest 50": RandomForestClassifier(50, random_state=0),
        "neural network": MLPClassifier((32,), max_iter=120, random_state=0),
    }
    for name, model in models.items():
        model.fit(flat[:TRAINING_ROWS], labels[:TRAINING_ROWS])
        begin, cpu_begin = time.perf_counter(), time.process_time()
        front = dm.explore(model, images, walks=WALKS, progress=False)
        seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
        begin = time.perf_counter()
        page = front.to_html()
        page_seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        report = dm.check(model, images, dm.relations.image_relations(), inputs=len(images), progress=False)
        check_seconds = time.perf_counter() - begin
        print(
            f"{name:<18} {len(front):>4} pairs in {seconds:.1f} s: {PAIRS} in {seconds * PAIRS / len(front):.1f} s "
            f"({cpu_seconds * PAIRS / len(front):.1f} s of the processor); "
            f"page {len(page) / 1000:.0f} kB in {page_seconds:.1f} s; "
            f"{report.runs:,} cases of {len(report.entries)} relations in {check_seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
