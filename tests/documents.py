"""Documents of every format, written by hand: each says the same."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

from crivello.lab.web.pdf import write_pdf

TITLE = "Of lava"
HEADING = "How it flows"
TEXT = "Basalt is thin & quick, città."
LINK = "https://b.test/obsidian"
ANCHOR = "Obsidian"
DATE = "2024-05-06"

OFFICE = "application/vnd.openxmlformats-officedocument."
OPEN = "application/vnd.oasis.opendocument."
_ESCAPED = TEXT.replace("&", "&amp;")
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP file; a file named ``mimetype`` is stored as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else method
            archive.writestr(name, content, kind)
    return out.getvalue()


def relations(**targets: str) -> str:
    """The relationships of a part: external if they are URLs."""
    mode = {True: ' TargetMode="External"', False: ""}
    each = "".join(
        f'<Relationship Id="{name}" Type="t" Target="{target}"{mode[":" in target]}/>'
        for name, target in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{each}</Relationships>'


_CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="d">'
    f"<dc:title>{TITLE}</dc:title><dcterms:created>2020-01-01T00:00:00Z</dcterms:created>"
    f"<dcterms:modified>{DATE}T07:08:09Z</dcterms:modified></cp:coreProperties>"
)
_TYPES = {"[Content_Types].xml": "<Types/>", "docProps/core.xml": _CORE}


def docx(text: str = _ESCAPED, link: str = LINK) -> bytes:
    body = (
        f'<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>{HEADING}</w:t></w:r></w:p>'
        f"<w:p><w:r><w:t>{text}</w:t></w:r><w:del><w:r><w:t>never</w:t></w:r></w:del></w:p>"
        f'<w:p><w:hyperlink r:id="r1"><w:r><w:t>{ANCHOR}</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>after</w:t></w:r></w:p>'
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://b.test/field"</w:instrText>'
        '</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>a field</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    return zipped(
        {
            **_TYPES,
            "word/document.xml": f'<w:document xmlns:w="w" xmlns:r="{_RELATIONS}"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": relations(r1=link),
            "word/styles.xml": '<w:styles xmlns:w="w"><w:docDefaults><w:lang w:val="it-IT"/></w:docDefaults>'
            '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>',
        }
    )


def pptx() -> bytes:
    def shape(kind: str, paragraph: str) -> str:
        return f'<p:sp><p:nvPr><p:ph type="{kind}"/></p:nvPr><a:p>{paragraph}</a:p></p:sp>'

    link = f'<a:r><a:rPr><a:hlinkClick r:id="r1"/></a:rPr><a:t>{ANCHOR}</a:t></a:r>'
    slide = shape("title", f"<a:r><a:t>{HEADING}</a:t></a:r>") + shape(
        "body", f"<a:r><a:t>{_ESCAPED}</a:t></a:r>"
    )
    spaces = f'xmlns:p="p" xmlns:a="a" xmlns:r="{_RELATIONS}"'
    return zipped(
        {
            **_TYPES,
            "ppt/presentation.xml": f'<p:presentation {spaces}><p:sldId r:id="r7" id="256"/></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relations(r7="slides/slide1.xml"),
            "ppt/slides/slide1.xml": f"<p:sld {spaces}>{slide}{shape('body', link)}</p:sld>",
            "ppt/slides/_rels/slide1.xml.rels": relations(r1=LINK),
        }
    )


def xlsx() -> bytes:
    cells = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>0.30000000000000004</v></c></row>'
        '<row r="2"><c r="A2" s="1"><v>45418</v></c><c r="B2" t="inlineStr"><is><t>inline</t></is></c>'
        f'<c r="C2" t="str"><f>x</f><v>{ANCHOR}</v></c></row>'
    )
    return zipped(
        {
            **_TYPES,
            "xl/workbook.xml": f'<workbook xmlns:r="{_RELATIONS}"><sheets><sheet name="{HEADING}" sheetId="1" r:id="r1"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(r1="/xl/worksheets/sheet1.xml"),
            "xl/sharedStrings.xml": f"<sst><si><r><t>{_ESCAPED[:9]}</t></r><r><t>{_ESCAPED[9:]}</t></r></si></sst>",
            "xl/styles.xml": '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/></numFmts>'
            '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns:r="{_RELATIONS}"><sheetData>{cells}</sheetData><hyperlinks>'
            '<hyperlink ref="C2" r:id="r2"/></hyperlinks></worksheet>',
            "xl/worksheets/_rels/sheet1.xml.rels": relations(r2=LINK),
        }
    )


_META = (
    '<office:document-meta xmlns:office="o" xmlns:dc="d" xmlns:meta="m"><office:meta>'
    f"<dc:title>{TITLE}</dc:title><dc:date>{DATE}T01:02:03</dc:date><dc:language>it</dc:language>"
    "</office:meta></office:document-meta>"
)
_SPACES = (
    'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:presentation="p" xmlns:xlink="x"'
)


def _open_document(kind: str, body: str, **more: str) -> bytes:
    content = (
        f"<office:document-content {_SPACES}><office:body>{body}</office:body></office:document-content>"
    )
    files: dict[str, str | bytes] = {"mimetype": OPEN + kind, "content.xml": content, "meta.xml": _META}
    return zipped({**files, "META-INF/manifest.xml": more.get("manifest", "<manifest/>")})


_OPEN_LINK = f'<text:p><text:a xlink:href="{LINK}">{ANCHOR}</text:a> after</text:p>'


def odt(**more: str) -> bytes:
    return _open_document(
        "text",
        "<text:tracked-changes><text:p>never</text:p></text:tracked-changes>"
        f'<text:h text:outline-level="1">{HEADING}</text:h><text:p>{_ESCAPED}</text:p>{_OPEN_LINK}',
        **more,
    )


def odp() -> bytes:
    def frame(kind: str, body: str) -> str:
        return f'<draw:frame presentation:class="{kind}"><draw:text-box>{body}</draw:text-box></draw:frame>'

    title = frame("title", f"<text:p>{HEADING}</text:p>")
    body = frame("outline", f"<text:p>{_ESCAPED}</text:p>{_OPEN_LINK}")
    return _open_document("presentation", f"<draw:page>{title}{body}</draw:page>")


def ods() -> bytes:
    cell = "<table:table-cell>{}</table:table-cell>"
    first = cell.format(f"<text:p>{_ESCAPED}</text:p>")
    row = f"<table:table-row>{first}{cell.format(_OPEN_LINK)}</table:table-row>"
    return _open_document("spreadsheet", f'<table:table table:name="{HEADING}">{row}</table:table>')


def rtf() -> bytes:
    return (
        "{\\rtf1\\ansi\\ansicpg1252\\uc1{\\fonttbl{\\f0 Never;}}{\\info{\\title " + TITLE + "}"
        "{\\revtim\\yr2024\\mo5\\dy6}}{\\*\\generator Never;}\n"
        "\\pard\\outlinelevel0 " + HEADING + "\\par\\pard " + TEXT.replace("à", "\\u224 a") + "\\par "
        '{\\field{\\*\\fldinst{HYPERLINK "' + LINK + '"}}{\\fldrslt{\\ul ' + ANCHOR + "}}} citt\\'e0\\par}"
    ).encode()


def epub(**more: str) -> bytes:
    chapter = (
        f"<html><head><title>never</title></head><body><h1>{HEADING}</h1><p>{_ESCAPED}</p>"
        f'<p><a href="{LINK}">{ANCHOR}</a> <a href="two.xhtml">inner</a></p></body></html>'
    )
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="a/b.opf"/></rootfiles></container>',
        "a/b.opf": f'<package xmlns:dc="d"><metadata><dc:title>{TITLE}</dc:title><dc:language>it</dc:language>'
        f'<dc:date>{DATE}</dc:date></metadata><manifest><item id="one" href="one%20.xhtml"/></manifest>'
        '<spine><itemref idref="one"/></spine></package>',
        "a/one .xhtml": chapter,
    }
    return zipped({**files, **more})


def pdf(text: str = TEXT, link: str = LINK) -> bytes:
    """Two pages; the heading is on the second one."""
    return write_pdf(
        TITLE,
        [*["Ash."] * 24, HEADING, text, ANCHOR],
        headings=[HEADING],
        links={ANCHOR: link},
        language="it",
        date=DATE.replace("-", ""),
    )


def markdown() -> bytes:
    front = f"---\ntitle: {TITLE}\ndate: {DATE}\nlang: it\n---\n"
    return f"{front}# {HEADING}\n\n{TEXT}\n\n[{ANCHOR}]({LINK})\n".encode()


def latex() -> bytes:
    return (
        "\\documentclass[a4paper]{article} % never\n\\usepackage[italian]{babel}\n\\title{" + TITLE + "}\n"
        "\\begin{document}\\maketitle\n\\section{" + HEADING + "}\\label{never}\n"
        + TEXT.replace("&", "\\&").replace("à", "\\`a")
        + "\n\n\\href{" + LINK + "}{\\emph{" + ANCHOR + "}} \\verb|x % y|\n\\end{document}\n"
    ).encode()  # fmt: skip


def manual() -> bytes:
    return (
        f'.\\" never\n.TH "Of lava" 7 {DATE} x\n.SH {HEADING}\n.PP\n\\fBBasalt\\fP is thin & quick, citt\\(`a.\n'
        f".UR {LINK}\n{ANCHOR}\n.UE\n.TP\n.B \\-\\-flag\nA flag.\n"
    ).encode()


def xml() -> bytes:
    said = _ESCAPED.replace("thin", "&thing;")
    return (
        f'<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE article [<!ENTITY thing "thin">]><article xml:lang="it">'
        f"<title>{TITLE}</title><pubdate>{DATE}</pubdate><section><title>{HEADING}</title>"
        f'<para>{said}</para><para><ulink url="{LINK}">{ANCHOR}</ulink></para></section></article>'
    ).encode("latin-1")


def mail(subject: str = TITLE) -> bytes:
    return (
        f"From: Ada <ada@b.test>\r\nSubject: {subject}\r\nDate: Mon, 06 May 2024 07:08:09 +0000\r\nMIME-Version: 1.0\r\n"
        "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        f'<html><body><h1>{HEADING}</h1><p>{_ESCAPED}</p><a href="{LINK}">{ANCHOR}</a></body></html>\r\n'
    ).encode()


def mailbox() -> bytes:
    start = b"From ada@b.test Mon May  6 07:08:09 2024\n"
    return start + mail("First") + b"\n" + start + mail("Second")


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in (("a/read.md", markdown()), ("a/picture.png", b"never")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def encrypted_zip() -> bytes:
    """A ZIP file whose flags say that it is encrypted."""
    data = bytearray(zipped({"a.txt": "secret"}))
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + place] |= 1
    return bytes(data)


DOCUMENTS = {
    "pdf": ("application/pdf", pdf()),
    "docx": (f"{OFFICE}wordprocessingml.document", docx()),
    "pptx": (f"{OFFICE}presentationml.presentation", pptx()),
    "xlsx": (f"{OFFICE}spreadsheetml.sheet", xlsx()),
    "odt": (f"{OPEN}text", odt()),
    "odp": (f"{OPEN}presentation", odp()),
    "ods": (f"{OPEN}spreadsheet", ods()),
    "rtf": ("application/rtf", rtf()),
    "epub": ("application/epub+zip", epub()),
    "md": ("text/markdown", markdown()),
    "tex": ("application/x-tex", latex()),
    "7": ("application/x-troff-man", manual()),
    "xml": ("application/xml", xml()),
    "eml": ("message/rfc822", mail()),
    "mbox": ("application/mbox", mailbox()),
    "zip": ("application/zip", zipped({"read.md": markdown(), "picture.png": b"never"})),
    "tar": ("application/x-tar", tar()),
    "md.gz": ("application/gzip", gzip.compress(markdown())),
}
