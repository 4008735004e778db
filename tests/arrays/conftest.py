"""What of these tests runs."""

# Until its lists are made.
collect_ignore = ["test_numpy_tests.py"]
