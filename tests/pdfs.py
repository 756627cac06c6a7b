"""PDF files written byte by byte, as small as they can be."""

from __future__ import annotations


def pdf_of(*pages: bytes, kids: str = "", extra: str = "") -> bytes:
    """Return a PDF with these content streams; `kids` are other pages in place of its own, `extra` is said of streams."""
    numbers = range(4, 4 + 2 * len(pages), 2)
    listed = kids or " ".join(f"{number} 0 R" for number in numbers)
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{listed}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, content in zip(numbers, pages, strict=True):
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        head = f"<< /Length {len(content)} {extra} >>\nstream\n".encode()
        objects[number + 1] = head + content + b"\nendstream"
    made = b"%PDF-1.4\n"
    places = []
    for number, written in sorted(objects.items()):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode() + written + b"\nendobj\n"
    start = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    made += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return made
