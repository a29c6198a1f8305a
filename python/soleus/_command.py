"""The `soleus` command."""

from __future__ import annotations

import signal
import sys

from . import _soleus


def main() -> None:
    """Runs the command with the arguments of the program."""
    # The command hears Ctrl-C itself, and keeps what it has.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_soleus.run_command(["soleus", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
