"""A test tone: tone.py FILE SECONDS makes a WAV file of 16 kHz, mono, that swells."""
import array
import math
import sys
import wave

rate, seconds = 16000, float(sys.argv[2])
with wave.open(sys.argv[1], "wb") as sound:
    sound.setparams((1, 2, rate, 0, "NONE", ""))
    n = int(rate * seconds)
    sound.writeframes(array.array("h", (int(30000 * i / n * math.sin(i / 5)) for i in range(n))).tobytes())
