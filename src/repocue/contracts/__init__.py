"""Strict JSON reading, canonical JSON writing, digests, and the registry of every contract version."""
