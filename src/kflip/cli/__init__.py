"""The command line: parse, call, print."""

from __future__ import annotations

import sys

import typer

from kflip.errors import FileFormatError, InputError

#: Exit codes: a check failed; the input made no sense; interrupted (128 + SIGINT).
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; bad input ends with one line on stderr and code 2."""
    from kflip.cli.app import app

    try:
        code = app(args=arguments, prog_name="kflip", standalone_mode=False)
    except (InputError, FileFormatError) as error:
        _fail(str(error), BAD_INPUT)
    except typer.TyperException as error:
        message = error.format_message()
        _fail(" ".join(message.split()) if message else "missing command; see kflip --help", BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted; nothing was written", INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output left, for example `kflip ... | head`
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    print(f"kflip: {message}", file=sys.stderr)
    sys.exit(code)
