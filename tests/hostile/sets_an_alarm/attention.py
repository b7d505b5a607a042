"""Has itself ended by a timer while the next call runs: setitimer, alarm, faulthandler's watchdog."""

import faulthandler
import signal


def softmax(x, axis=-1):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    except OSError:
        faulthandler.dump_traceback_later(0.01, exit=True)
    while True:
        pass
