"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from kflip.errors import FileFormatError, InputError

#: Exit codes: a check failed; the input made no sense; interrupted (128 + SIGINT); nobody reads on (128 + SIGPIPE).
FAILED, BAD_INPUT, INTERRUPTED, UNREAD = 1, 2, 130, 141


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; bad input ends with one line on stderr and code 2."""
    try:
        from kflip.cli.app import app

        code = app(args=arguments, prog_name="kflip", standalone_mode=False)
    except (InputError, FileFormatError) as error:
        _fail(str(error), BAD_INPUT)
    except typer.TyperException as error:
        _fail(error.format_message() or "missing command; see kflip --help", BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # the reader of our output left, for example `kflip ... | head`; typer and rich turn that into an exit
        _drop_output()
        sys.exit(UNREAD)
    except OSError as error:
        _drop_output()
        _fail(f"cannot write {error.filename or 'the output'}: {error.strerror or error}", BAD_INPUT)
    except MemoryError:
        _fail("not enough memory", BAD_INPUT)
    if code == INTERRUPTED:  # typer returns this code when a command is interrupted
        _fail("interrupted; no half-written file is left", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    print(f"kflip: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _drop_output() -> None:
    """Send what is still buffered nowhere, or the interpreter would complain about it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
