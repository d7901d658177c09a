"""One report document as one self-contained HTML page: no network, no script, light and dark, and to print."""
