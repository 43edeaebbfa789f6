"""Attacks on what pcnet reads: damaged files, models and searches, judged by readings that are not its own."""
