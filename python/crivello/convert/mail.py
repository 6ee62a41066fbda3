"""E-mail: a message (RFC 5322), or a mailbox of them (RFC 4155)."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime

from crivello.convert import Converted, Markup, Unreadable

MESSAGES = 5000
"""The most messages of a mailbox."""
_ATTACHMENTS = 20
_FROM = re.compile(rb"^From [^\n]*\d{4}[^\n]*\r?\n", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")
_SHOWN = ("From", "To", "Cc", "Date")
_BODY = re.compile(r"<body\b[^>]*>(.*?)(?:</body\s*>|\Z)", re.DOTALL | re.IGNORECASE)


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The subject is the title, or a heading of each message of a mailbox."""
    del charset
    starts = [match.start() for match in _FROM.finditer(body)]
    # A file named as a mailbox may be a message, without the line that begins one.
    if media_type == "message/rfc822" or (not starts and _HEADER.match(body)):
        message = _parse(body)
        markup = Markup()
        _write(message, markup, url)
        return Converted(_header(message, "Subject"), str(markup), date=_date(message))
    if not starts or starts[0] != 0:
        raise Unreadable("it is not a mailbox")
    markup, date = Markup(), ""
    for start, end in list(zip(starts, [*starts[1:], len(body)], strict=True))[:MESSAGES]:
        message = _parse(body[start:end].partition(b"\n")[2].replace(b"\n>From ", b"\nFrom "))
        markup.heading(_header(message, "Subject"))
        _write(message, markup, url)
        date = max(date, _date(message))
    cut = (
        f"only the first {MESSAGES:,} of its {len(starts):,} messages were read"
        if len(starts) > MESSAGES
        else ""
    )
    return Converted("", str(markup), date=date, failure=cut)


def _parse(body: bytes) -> EmailMessage:
    message = message_from_bytes(body, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise Unreadable("it is not a message")
    return message


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message[name] or "")
    except Exception:
        # The parser of headers fails on some that are malformed.
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).isoformat()
    except (ValueError, TypeError):
        return ""


def _write(message: EmailMessage, markup: Markup, url: str) -> None:
    for name in _SHOWN:
        if value := _header(message, name):
            markup.paragraph(f"{name}: {value}")
    part = message.get_body(("html", "plain"))
    if part is not None:
        content = _content(part)
        if part.get_content_subtype() == "html":
            found = _BODY.search(content)
            markup.html((found[1] if found else content) + "\n")
        else:
            markup.lines(content)
    for attachment in list(message.iter_attachments())[:_ATTACHMENTS]:
        _attachment(attachment, markup, url)


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):
        payload = part.get_payload(decode=True)
        return payload.decode(errors="replace") if isinstance(payload, bytes) else ""


def _attachment(part: MIMEPart, markup: Markup, url: str) -> None:
    from crivello.convert.members import convert_member

    name = part.get_filename() or ""
    payload = part.get_payload(decode=True)
    if name and isinstance(payload, bytes):
        convert_member(name, payload, url, markup)
