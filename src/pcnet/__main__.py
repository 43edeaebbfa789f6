"""`python -m pcnet`."""

from pcnet.cli import main

if __name__ == "__main__":
    main()
