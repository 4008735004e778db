"""ONNX's backend node tests, run with weft arrays and `weft.nn` (`make onnx-tests`)."""
