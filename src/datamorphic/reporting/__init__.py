"""Reports: plain dataclasses first, pages and pictures made of them."""
