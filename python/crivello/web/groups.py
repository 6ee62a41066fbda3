"""The hits of a page of results, those of a site together."""

from __future__ import annotations

from dataclasses import dataclass, field

from crivello._core import QueryText
from crivello.search.results import Hit, Results
from crivello.web.engine import Engine

_DOCUMENTS = ("pdf", "office")
_OTHERS_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit, whether it has a stored copy, and how long the document is."""

    hit: Hit
    copied: bool
    extent: str


@dataclass(frozen=True, slots=True)
class Group:
    """The best hit of a site, what the site calls itself, how many matches it has, and its other hits on this page.

    ``matches`` is 0 if it is not known, or if all results are of one site.
    """

    first: Shown
    name: str
    matches: int = 0
    others: list[Shown] = field(default_factory=list)

    @property
    def has_more(self) -> bool:
        """Whether the site has more matches than are shown, or copies of these."""
        return self.matches > sum(1 + one.hit.similar for one in (self.first, *self.others))

    @property
    def shown(self) -> list[Shown]:
        """The others that are shown; the rest is folded, unless it is a single one."""
        return self.others[:_OTHERS_SHOWN] if len(self.others) > _OTHERS_SHOWN + 1 else self.others

    @property
    def folded(self) -> list[Shown]:
        return self.others[len(self.shown) :]


def groups_of(engine: Engine, results: Results) -> list[Group]:
    """The hits in groups by site, in the order of their best hits.

    Alone stand the hits of a query for one site, and those without a site.
    """
    shown = _shown(engine, results.hits)
    names = engine.site_names([hit.url for hit in results])
    if len({hit.site for hit in results}) < 2 or _is_for_a_site(results.searched):
        return [Group(one, name) for one, name in zip(shown, names, strict=True)]
    groups: dict[str, Group] = {}
    counts = {value.value: value.count for value in (results.facets or {}).get("site", ())}
    for one, name in zip(shown, names, strict=True):
        key = one.hit.site or one.hit.url
        if key in groups:
            groups[key].others.append(one)
        else:
            groups[key] = Group(one, name, counts.get(one.hit.site, 0))
    return list(groups.values())


def _shown(engine: Engine, hits: tuple[Hit, ...]) -> list[Shown]:
    copies = engine.have_copies([hit.url for hit in hits])
    documents = [hit.url for hit in hits if hit.kind in _DOCUMENTS]
    extents = dict(zip(documents, engine.extents(documents), strict=True)) if documents else {}
    return [Shown(hit, copied, extents.get(hit.url, "")) for hit, copied in zip(hits, copies, strict=True)]


def _is_for_a_site(query: str) -> bool:
    return any(one.name == "site" and not one.negated for one in QueryText(query).filters)
