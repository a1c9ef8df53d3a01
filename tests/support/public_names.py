"""All public names: those of the package, and those of its groups."""

import datamorphic as dm

GROUPS = ("relations", "results", "systems", "trees")


def list_public_names():
    """Return what is public by its name, without the name of its group; groups themselves are left out."""
    names = {name: getattr(dm, name) for name in dm.__all__ if name not in GROUPS}
    for group in GROUPS:
        module = getattr(dm, group)
        names |= {name: getattr(module, name) for name in module.__all__}
    return names
