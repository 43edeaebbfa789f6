"""`pcnet`, also as `python -m pcnet`."""

from pcnet._processes import Stop


def main() -> None:
    """Run a command that can be stopped from its first moment to its last."""
    Stop().install()
    from pcnet.cli import main as command

    command()


if __name__ == "__main__":
    main()
