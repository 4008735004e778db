"""What of these tests runs."""

# Until Weft has arrays.
collect_ignore = ["fuzz/test_random_programs.py", "test_numpy_tests.py"]
