"""Loudness of a WAV file by windows of a tenth of a second: audio.py FILE."""
import array
import math
import sys
import wave

import sonde

with wave.open(sys.argv[1]) as sound:
    size = sound.getframerate() // 10
    i = 0
    while chunk := sound.readframes(size):
        with sonde.span("window"):
            samples = array.array("h", chunk)
            loudness = math.sqrt(sum(s * s for s in samples) / len(samples))
        sonde.metric_set("loudness", loudness)
        sonde.step("window", i, loudness)
        i += 1
