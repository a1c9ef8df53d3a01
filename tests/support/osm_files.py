"""Small extracts of OpenStreetMap."""

from __future__ import annotations


def write_extract(file, nodes, ways=()):
    """Write nodes (id, latitude, longitude, tags) and ways (id, nodes, tags)."""
    import osmium
    from osmium.osm.mutable import Node, Way

    with osmium.SimpleWriter(str(file)) as writer:
        for number, latitude, longitude, tags in nodes:
            writer.add_node(Node(id=number, location=(longitude, latitude), tags=tags))
        for number, own_nodes, tags in ways:
            writer.add_way(Way(id=number, nodes=own_nodes, tags=tags))
    return file
