"""The runtime token estimate (seed, "Reuse Analysis"): ceil(serialized UTF-8 bytes / 4)."""


def estimate(size_bytes: int) -> int:
    """Estimated tokens of a text of `size_bytes` UTF-8 bytes. An estimate, never a tokenizer's count."""
    return -(-size_bytes // 4)
