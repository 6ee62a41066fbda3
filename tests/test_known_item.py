"""A page that somebody remembers is among the first three."""

from __future__ import annotations

from pathlib import Path

from crivello.index import Document
from tests import known_item

ENOUGH = 0.95


def test_pages_of_a_real_web_are_found_again(tmp_path: Path) -> None:
    documents = known_item.pages()
    items = known_item.known_items(documents)
    assert len(items) == known_item.ITEMS
    share = known_item.found(items, known_item.finder(known_item.index(tmp_path, documents)))
    print(f"known items: {share:.1%} of {len(items)} among the first {known_item.FIRST}")
    assert share >= ENOUGH


def test_an_item_is_a_title_and_a_rare_word_of_its_page() -> None:
    filler = " ".join(f"common{number}" for number in range(30))
    first = Document("https://a.example/", "The wind", f"{filler} zephyr", "en")
    twin = first._replace(url="https://twin.example/", title="A twin of the wind")
    other = Document("https://b.example/", "Sails", filler, "en")
    items = known_item.known_items([first, twin, other])
    assert [len(item.urls) for item in items].count(2) == 2
    assert '"wind" "zephyr"' in {str(item.query) for item in items}
    assert known_item.found(items, lambda item: [first.url] if "zephyr" in str(item.query) else []) == 2 / 3
