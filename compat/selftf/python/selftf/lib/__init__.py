"""SelfTF's Python interface, done by sonde."""
