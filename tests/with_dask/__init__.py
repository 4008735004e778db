"""Tests of Dask with weft arrays as chunks. They are left out where Dask is not installed."""
