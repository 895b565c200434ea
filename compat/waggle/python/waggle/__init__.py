"""Waggle's Python package as far as profiling needs it; see waggle.plugin."""
