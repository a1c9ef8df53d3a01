"""Models of torch and Keras, and functions like them: they take arrays, and answer rows of scores in float32.

Run it with: python examples/neural_networks.py (neither library is needed: the network is written out with NumPy)
"""

from __future__ import annotations

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm

wine = dm.data.load("wine")
features, labels = wine.drop(columns="target"), wine["target"]
trained = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=1000, random_state=0)).fit(features, labels)
scaler, network = trained[0], trained[1]
WEIGHTS = [weights.astype(np.float32) for weights in network.coefs_]
BIASES = [bias.astype(np.float32) for bias in network.intercepts_]


class KerasLike:
    """A model with the ``predict`` of Keras: it takes an array and returns probabilities."""

    def predict(self, x, batch_size=None, verbose="auto"):
        """Return one probability per class."""
        logits = compute_logits(x)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


def compute_logits(rows: np.ndarray) -> np.ndarray:
    """Return one logit per class, as the forward pass of a torch module does."""
    rows = rows.reshape(len(rows), -1)  # a frame has no shape to change, so that the function is called with an array
    hidden = ((rows - scaler.mean_) / scaler.scale_).astype(np.float32)
    hidden = np.maximum(hidden @ WEIGHTS[0] + BIASES[0], 0)
    return hidden @ WEIGHTS[1] + BIASES[1]


# A module of torch is given as it is: dm.test(module, data, target="target"). It is put into evaluation mode, without
# gradients. Keras models too: dm.test(keras.models.load_model("model.keras"), data, target="target").
for model in (KerasLike(), compute_logits):
    result = dm.test(model, wine, target="target", budget="10s")
    print(result.describe())
    print()
    assert not result.at_least("fault")

# The classes are numbered unless they are named, in the order of the columns of scores.
named = wine.assign(target=wine["target"].map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}))
front = dm.explore(KerasLike(), named, target="target", classes=["Barolo", "Grignolino", "Barbera"], walks=200)
print(front.describe())
assert {"Barolo", "Grignolino", "Barbera"} >= set(front.pairs["a_output"])
