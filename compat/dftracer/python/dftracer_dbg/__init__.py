"""DFTracer with more words in its log; here it is the same."""
