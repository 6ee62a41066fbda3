"""The history of a URL as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from crivello._times import shown as moment
from crivello.cli.units import counted
from crivello.crawl.decisions import GIVEN_UP, TRIED_AGAIN, Decision
from crivello.crawl.why import LINKS_COUNTED, NOT_VISITED, Story
from crivello.store import Outcome, Row

Line = tuple[str, str]


def verdict(story: Story) -> str:
    """The outcome of the URL and, if there is no page, why."""
    if story.row is not None:
        return _of_row(story.row, story.host, story.others)
    match story.state:
        case "waits":
            return "It is known and waits in the frontier for its turn."
        case "handed over":
            return f"It was handed over {story.decisions[-1].detail}."
        case "left out":
            return f"It was seen, and the crawl did not take it in: {_left_out(story)}."
        case _:
            refused = f", and it would not be followed: {story.scope_refusal}" if story.scope_refusal else ""
            return f"It was never seen: it is no seed, and no page that was fetched links to it{refused}."


def _left_out(story: Story) -> str:
    unknown = "the settings of today do not say why, so they were other ones when the links were found"
    return story.scope_refusal or story.limit_refusal or unknown


def _of_row(row: Row, host: str, others: dict[str, str]) -> str:
    detail = f": {row.detail}" if row.detail else ""
    asked = "" if row.attempts else "It was not asked for: "
    tries = f" after {row.attempts} tries" if row.attempts > 1 else ""
    match row.outcome:
        case Outcome.FETCHED if copy := copied(row):
            stored = ", so nothing else of it was stored" if row.is_dropped else ""
            return f"It was fetched{tries}, and is {copy}{stored}."
        case Outcome.FETCHED if row.status == 200:
            return (
                f"It was fetched{tries}{f', but not all of it could be read{detail}' if row.detail else ''}."
            )
        case Outcome.FETCHED:
            return f"It was fetched{tries}, and the server answered with status {row.status}."
        case Outcome.REDIRECTED if row.redirect is None:
            return f"It was fetched{tries} and redirects with status {row.status}, but not to a page{detail}."
        case Outcome.REDIRECTED:
            # A later run may have followed what an earlier one did not.
            is_followed = not row.detail or others.get(row.redirect or "", NOT_VISITED) != NOT_VISITED
            refused = "" if is_followed else f", which is not followed{detail}"
            return f"It redirects with status {row.status} to {row.redirect}{refused}."
        case Outcome.SITEMAP:
            return f"It was asked for as a sitemap, and the server answered with status {row.status}{detail}."
        case Outcome.ASSET:
            leads = f" and leads to {row.redirect}" if row.redirect else ""
            return f"It was asked for as an asset, and the server answered with status {row.status}{leads}{detail}."
        case Outcome.NOT_MODIFIED:
            return f"It did not change since it was fetched{f', and is {copy}' if (copy := copied(row)) else ''}."
        case Outcome.ROBOTS if row.detail.startswith("line "):
            return f"It was not asked for: the robots.txt of {host} forbids it ({row.detail})."
        case Outcome.ROBOTS:
            return f"It was not asked for: the rules of {host} could not be had, which forbids everything{detail}."
        case Outcome.TRAP:
            return f"It was cut off as a trap{detail}."
        case Outcome.GONE:
            return f"It was there, and is gone{detail}."
        case Outcome.LIMIT:
            return f"It was not asked for, because it is over a limit{detail}."
        case Outcome.FILTERED:
            return f"It was fetched, and filtered out{detail}."
        case failure if asked:
            return f"It was not asked for, because its host was given up ({failure}){detail}."
        case failure:
            return f"It could not be fetched{tries}: {failure}{f' ({row.detail})' if row.detail else ''}."


def copied(row: Row) -> str:
    """What a page is a duplicate of; empty if it is none."""
    if row.duplicate_of:
        return f"a duplicate of {row.duplicate_of}"
    if row.near_duplicate_of:
        apart = "" if row.near_bits is None else f", {counted(row.near_bits, 'bit')} apart"
        return f"a near-duplicate of {row.near_duplicate_of}{apart}"
    return ""


def tell(story: Story) -> Iterator[Line]:
    """The history in order; each line has a heading or a time."""
    yield "verdict", verdict(story)
    if story.url != story.given:
        cleaned = f" ({', '.join(story.cleaned)})" if story.cleaned else ""
        yield "canonical form", f"{story.url}{cleaned}"
    if not story.asset_of:
        yield "scope", f"outside: {story.scope_refusal}" if story.scope_refusal else "inside"
    yield from _finding(story)
    for decision in story.rules:
        yield moment(decision.time), _of_rules(decision)
    for decision in story.decisions:
        yield moment(decision.time), _of_decision(decision)
    yield from _relations(story)
    yield from _ranks(story)
    yield from _visits(story)
    if story.place is not None:
        yield "record", "{file}, offset {offset:,}, {length:,} bytes".format(**story.place)
    if story.row is not None:
        yield "index", "it is in the index" if story.is_indexed else f"not in the index: {story.index_reason}"


def _finding(story: Story) -> Iterator[Line]:
    if story.is_seed:
        yield "found", "it is a seed"
    if story.asset_of:
        yield "found", f"as the {story.asset_of}"
    if story.found is not None and story.found.is_redirect:
        yield "found", f"by the redirect of {story.found.url}"
    elif story.found is not None:
        anchor = f' as "{story.found.anchor}"' if story.found.anchor else ""
        yield "also found" if story.is_seed else "found", f"first on {story.found.url}{anchor}"
    if story.linking_pages:
        least = "at least " if story.linking_pages == LINKS_COUNTED else ""
        pages = "1 page links" if story.linking_pages == 1 else f"{story.linking_pages:,} pages link"
        yield "links", f"{least}{pages} to it"
    if story.depth:
        inside = f", {story.site_depth} inside its site" if story.site_depth else ""
        yield "depth", f"{story.depth} {'link' if story.depth == 1 else 'links'} from a seed{inside}"


def _of_rules(decision: Decision) -> str:
    answer = f"answered {decision.status}" if decision.status else f"could not be had: {decision.detail}"
    given_up = ", and the host was given up" if decision.event == GIVEN_UP else ""
    return f"robots.txt {answer}{given_up}"


def _of_decision(decision: Decision) -> str:
    if decision.event == TRIED_AGAIN:
        rest = f"; again after {decision.seconds:.1f} s" if decision.seconds is not None else ""
        return f"try {decision.attempt} failed: {decision.detail}{rest}"
    facts = []
    if decision.status is not None:
        facts.append(f"status {decision.status}")
    if decision.content_type:
        facts.append(decision.content_type)
    if decision.bytes is not None:
        facts.append(f"{decision.bytes:,} bytes")
    if decision.attempt and decision.seconds is not None:
        facts.append(f"{decision.seconds:.3f} s")
    if decision.address:
        facts.append(f"from {decision.address}")
    if decision.attempt and decision.attempt > 1:
        facts.append(f"try {decision.attempt}")
    said = f"{decision.event}: {', '.join(facts)}" if facts else decision.event
    return f"{said}; {decision.detail}" if decision.detail else said


def _relations(story: Story) -> Iterator[Line]:
    row = story.row
    for heading, url in (
        ("redirects to", row and row.redirect),
        ("has the words of", row and row.duplicate_of),
        ("is nearly", row and row.near_duplicate_of),
        ("calls itself", row and row.canonical),
    ):
        if url:
            yield heading, f"{url} ({story.others[url]})"
    for url in story.redirected_from:
        yield "redirected from", url
    for url in story.copies:
        yield "is copied by", url


def _ranks(story: Story) -> Iterator[Line]:
    for standing in story.standings:
        yield (
            standing.measure,
            f"{standing.value:.4g}, {_ordinal(standing.position)} of {standing.pages:,} "
            f"(above or with {standing.percentile:.4g} % of the pages)",
        )


def _visits(story: Story) -> Iterator[Line]:
    if len(story.versions) > 1:
        texts = len({row.digest for row in story.versions if row.digest is not None})
        oldest = moment(story.versions[-1].fetched_at)
        yield (
            "versions",
            f"{counted(len(story.versions), 'version')} since {oldest}, {counted(texts, 'text')}",
        )
    visit = story.next_visit
    if visit is not None:
        yield (
            "next visit",
            f"{moment(visit.time.timestamp())}, {visit.reason}; {counted(visit.visits, 'visit')} so far, "
            f"{counted(visit.changes, 'change')} seen, about {visit.rate:.2g} a day",
        )
        if visit.failures:
            yield "failing", f"the last {counted(visit.failures, 'visit')} failed"


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
